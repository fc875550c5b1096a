"""Programs that misbehave over Arrow, for the tests: python exec_faults.py FAULT [ARGUMENT]"""

import os
import sys
import time
from pathlib import Path

import pyarrow as pa

FAULT, ARGUMENTS = sys.argv[1], sys.argv[2:]


def answers(rows: pa.RecordBatch) -> list[pa.Array]:
    """The columns that are written for a batch."""
    yes = [hours > 40 for hours in rows.column("hours").to_pylist()]
    match FAULT:
        case "fewer-rows":
            return [pa.array(yes[:-1])]
        case "two-columns":
            return [pa.array(yes), pa.array(yes)]
        case "dates":
            return [pa.array([0] * len(yes), pa.date32())]
        case "nulls":
            return [pa.array([None] + yes[1:])]
        case "probabilities":
            return [pa.array([0.5 + (hours - 40) / 100 for hours in rows.column("hours").to_pylist()])]
        case "labels":
            return [pa.array(["good" if y else "bad" for y in yes]).dictionary_encode()]
        case _:
            return [pa.array(yes)]


def main() -> None:
    if FAULT == "prints":
        print("loading the model", flush=True)
    output, writer = sys.stdout.buffer, None
    for rows in pa.ipc.open_stream(sys.stdin.buffer):
        if FAULT == "raises" and 49 in rows.column("hours").to_pylist():
            raise ValueError("no such job: 'juggler'")
        if FAULT == "dies-in-the-message":
            output.write(b"\xff\xff\xff\xff\x20")
            output.flush()
            os._exit(7)
        if FAULT == "hangs":
            time.sleep(600)
        if FAULT == "talks":
            sys.stderr.write("x" * 79 + "\n")
            sys.stderr.write("y" * 1_000_000 + "\n")
            sys.stderr.flush()
        if FAULT == "dies-once" and not Path(ARGUMENTS[0]).exists():
            Path(ARGUMENTS[0]).write_text("died")
            os.kill(os.getpid(), 9)
        columns = answers(rows)
        if writer is None:
            fields = [(f"c{i}", column.type) for i, column in enumerate(columns)]
            writer = pa.ipc.new_stream(output, pa.schema(fields))
        writer.write_batch(pa.record_batch(columns, writer_schema(columns)))
        if FAULT == "answers-twice":
            writer.write_batch(pa.record_batch(columns, writer_schema(columns)))
        output.flush()
        if FAULT == "prints-later":
            print("done with a batch", flush=True)


def writer_schema(columns: list[pa.Array]) -> pa.Schema:
    return pa.schema([(f"c{i}", column.type) for i, column in enumerate(columns)])


if __name__ == "__main__":
    main()
