"""Measures what an audit adds to a black box's own time: a scikit-learn pipeline, asked in every way there is.

    python3 -m venv target/python/black-box
    target/python/black-box/bin/pip install maturin==1.16.0 -r crates/models/tests/support/requirements.txt
    VIRTUAL_ENV=target/python/black-box target/python/black-box/bin/maturin develop --release
    target/python/black-box/bin/python python/benchmarks/black_box.py data/adult/adult.csv.gz

The model is a logistic regression on the 48,842 people of Adult: text by a OneHotEncoder, numbers scaled. An audit at
support 1 % asks it for millions of distinct rows: in this process, as a program over Arrow and over CSV, behind a server
that speaks MLflow's protocol, and as ONNX. Each audit is a process of its own, and all are run in turn, several times;
medians are told. With ``--evidence``, the audits of a model in this process are tested too. Other work may keep a machine
busy: processor time hardly minds, seconds do. So beside the seconds it is told how much of our processor time fell into
the time in which the model answered, where that is known.

ONNX Runtime answers faster than rows can be built, so its line has company: what ``InferenceSession.run`` takes in
Python for as many rows, as arrays that are ready. ``--free`` lets all features change, in the place of what is guessed
of each: five times as many rows are asked.

``--beside FOLDER`` names the folder of another build of the package, such as the wheel of an older commit, unpacked;
the audits of a model in this process are run with both. Needs Linux, and ``perf`` to tell ONNX Runtime's time from ours.
"""

from __future__ import annotations

import argparse
import http.server
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: One thread for whatever computes: processor time of the calling thread is then all that a model takes.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
WAYS = {
    "in process": "a pipeline in this process",
    "exec": "a program, Arrow",
    "exec-csv": "a program, CSV",
    "http": "a server, MLflow's protocol",
    "onnx": "ONNX Runtime",
}
TEXTS = ["Workclass", "marital-status", "occupation", "relationship", "race", "sex", "native-country"]
NUMBERS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
TICK = os.sysconf("SC_CLK_TCK")


def people(path: Path) -> tuple[Any, Any]:
    """The people, and who earns more than 50,000 dollars."""
    import pandas as pd

    table = pd.read_csv(path, skipinitialspace=True)
    return table[[*TEXTS, *NUMBERS]], (table["income"] == ">50K").to_numpy().astype(int)


def fit(path: Path, folder: Path) -> None:
    """Fits the pipeline, and writes it for scikit-learn and as ONNX."""
    import joblib
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    rows, yes = people(path)
    columns = ColumnTransformer(
        [("text", OneHotEncoder(handle_unknown="ignore"), TEXTS), ("number", StandardScaler(), NUMBERS)]
    )
    model = Pipeline([("columns", columns), ("model", LogisticRegression(max_iter=1000))]).fit(rows, yes)
    joblib.dump(model, folder / "model.joblib")
    inputs = [(name, StringTensorType([None, 1])) for name in TEXTS]
    inputs += [(name, FloatTensorType([None, 1])) for name in NUMBERS]
    graph = to_onnx(model, initial_types=inputs, options={id(model): {"zipmap": False}})
    (folder / "model.onnx").write_bytes(graph.SerializeToString())


class Clock:
    """A model, and the time that it takes: by the clock, on its thread, and on all others meanwhile."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.rows, self.seconds, self.cpu, self.meanwhile = 0, 0.0, 0.0, 0.0
        self.feature_names_in_ = model.feature_names_in_

    def predict(self, rows: Any) -> Any:
        """What the model answers."""
        wall, thread, process = time.perf_counter(), time.thread_time(), time.process_time()
        answers = self.model.predict(rows)
        wall, thread, process = (
            time.perf_counter() - wall,
            time.thread_time() - thread,
            time.process_time() - process,
        )
        self.rows += len(rows)
        self.seconds += wall
        self.cpu += thread
        self.meanwhile += process - thread
        return answers

    def told(self) -> dict[str, float]:
        """What was measured so far."""
        return {"rows": self.rows, "seconds": self.seconds, "cpu": self.cpu, "meanwhile": self.meanwhile}


def program(wire: str, folder: Path) -> None:
    """The model as a program. What it took is in a file, written anew after each batch."""
    import joblib
    import pyarrow as pa

    model = Clock(joblib.load(folder / "model.joblib"))
    report = folder / f"program-{os.getpid()}.json"

    def answer(rows: Any) -> Any:
        answers = model.predict(rows)
        report.write_text(json.dumps(model.told() | {"whole": time.process_time()}))
        return answers

    answers, sys.stdout = sys.stdout.buffer, sys.stderr
    if wire == "exec":
        schema = pa.schema([("class", pa.int64())])
        with pa.ipc.open_stream(sys.stdin.buffer) as batches, pa.ipc.new_stream(answers, schema) as out:
            for rows in batches:
                out.write_batch(pa.record_batch([pa.array(answer(rows.to_pandas()))], schema))
                answers.flush()
        return
    import io

    import pandas as pd

    header, lines = sys.stdin.buffer.readline(), []
    for line in sys.stdin.buffer:
        if line != b"\n":
            lines.append(line)
            continue
        rows = pd.read_csv(io.BytesIO(header + b"".join(lines)), keep_default_na=False)
        answers.write("".join(f"{one}\n" for one in answer(rows)).encode() + b"\n")
        answers.flush()
        lines = []


def serve(folder: Path) -> None:
    """The model behind MLflow's protocol; prints its port, and answers at /told what it took."""
    import joblib
    import pandas as pd

    model = Clock(joblib.load(folder / "model.joblib"))
    once = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body of an answer go in one packet; without, each waits for the other side.
        wbufsize = -1

        def do_GET(self) -> None:
            self.reply(model.told() | {"whole": time.process_time()})

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["dataframe_split"]
            rows = pd.DataFrame(sent["data"], columns=sent["columns"])
            with once:
                answers = model.predict(rows)
            self.reply({"predictions": answers.tolist()})

        def reply(self, value: Any) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


class Watch:
    """Notes time at the beginning of each phase of an audit."""

    def __init__(self, model: Callable[[], dict[str, float]]) -> None:
        self.model = model
        self.phases: list[tuple[str, dict[str, float]]] = []

    def tell(self, phase: str, done: int, total: int) -> None:
        """A phase goes on."""
        if not self.phases or self.phases[-1][0] != phase:
            self.note(phase)

    def note(self, phase: str) -> None:
        """A phase begins."""
        now = {"at": time.perf_counter(), "own": time.process_time(), "peak": peak()}
        self.phases.append((phase, now | {f"model {key}": value for key, value in self.model().items()}))

    def of(self, phase: str) -> dict[str, float]:
        """What grew in a phase, and the peak of memory after it."""
        for (name, before), (_, after) in zip(self.phases, self.phases[1:], strict=False):
            if name == phase:
                return {key: after[key] - (0 if key == "peak" else before.get(key, 0)) for key in after}
        return {}

    @property
    def span(self) -> tuple[float, float]:
        """When rows were asked, from and to."""
        places = [place for place, (name, _) in enumerate(self.phases) if name == "flips"]
        return self.phases[places[0]][1]["at"], self.phases[places[0] + 1][1]["at"]


def peak() -> float:
    """The most memory that this process has held, in MB."""
    kib = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    return int(kib[1]) * 1024 / 1e6 if kib else float("nan")


def sum_of_programs(folder: Path) -> dict[str, float]:
    """What all programs took so far."""
    told: dict[str, float] = {}
    for report in folder.glob("program-*.json"):
        try:
            one = json.loads(report.read_text())
        except ValueError:
            continue  # it is being written
        told = {key: told.get(key, 0) + one[key] for key in one}
    return told


@contextmanager
def opened(way: str, folder: Path) -> Iterator[tuple[Any, Callable[[], dict[str, float]]]]:
    """A model as facts.audit takes it, and what it took so far."""
    if way == "in process":
        import joblib

        model = Clock(joblib.load(folder / "model.joblib"))
        yield model, model.told
    elif way == "onnx":
        yield f"onnx:{folder / 'model.onnx'}", dict
    elif way == "http":
        command = [sys.executable, __file__, "--serve", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            address = f"http://127.0.0.1:{int(server.stdout.readline())}/invocations"

            def told() -> dict[str, float]:
                from urllib.request import urlopen

                return dict(json.loads(urlopen(address).read()))

            try:
                yield address, told
            finally:
                server.terminate()
    else:
        command = shlex.join([sys.executable, __file__, "--program", way, str(folder)])
        yield f"{way}:{command}", lambda: sum_of_programs(folder)


def measure(way: str, path: Path, folder: Path, evidence: bool, free: bool) -> dict[str, Any]:
    """One audit."""
    import facts

    table, _ = people(path)
    with opened(way, folder) as (model, told):
        watch = Watch(told)
        libraries = peak()
        # A question mark is a level like any other here: everybody stays.
        said: dict[str, Any] = {"favourable": 1, "support": 0.01, "missing_codes": [], "progress": watch.tell}
        if free:
            said["features"] = {name: {"only": "any"} for name in [*TEXTS, *NUMBERS] if name != "sex"}
        facts.audit(model, table, "sex", evidence=evidence, **said)
        watch.note("end")
    return {"asking": watch.of("flips"), "evidence": watch.of("evidence"), "libraries": libraries, "span": watch.span}


def onnx_alone(path: Path, folder: Path, rows: int) -> float:
    """The processor time of ONNX Runtime in Python for so many rows: people, again and again."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
    table, _ = people(path)
    # As large as the batches of an audit are.
    table = table.iloc[np.arange(65_536) % len(table)]
    kinds: dict[str, type] = dict.fromkeys(TEXTS, object) | dict.fromkeys(NUMBERS, np.float32)
    arrays = {name.replace("-", "_"): table[[name]].to_numpy(kind) for name, kind in kinds.items()}
    start, batches = time.process_time(), -(-rows // len(table))
    for _ in range(batches):
        session.run(["label"], arrays)
    return (time.process_time() - start) * rows / (batches * len(table))


def run(
    way: str, path: Path, folder: Path, package: Path | None, evidence: bool = False, free: bool = False
) -> dict[str, Any]:
    """One audit in a process of its own."""
    environment = os.environ | ONE_THREAD
    if package is not None:
        environment["PYTHONPATH"] = str(package)
    command = [sys.executable, __file__, str(path), "--measure", way, str(folder)]
    command += ["--evidence"] * evidence + ["--free"] * free
    samples = folder / "samples"
    if way == "onnx":
        environment["FACTS_PYTHON"] = sys.executable
        record = ["perf", "record", "--quiet", "-e", "cpu-clock", "-F", "250", "-k", "CLOCK_MONOTONIC"]
        command = [*record, "-o", str(samples), "--", *command]
    done = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    for report in folder.glob("program-*.json"):
        report.unlink()
    if way == "onnx":
        # What ran in whose code while rows were asked. Nothing else tells the two apart: both are in one process.
        start, end = found["span"]
        script = ["perf", "script", "-i", str(samples), "-F", "ip,sym,dso", f"--time={start:.3f},{end:.3f}"]
        lines = subprocess.run(script, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        places = [line.rsplit("(", 1)[1] for line in lines.splitlines() if "(" in line]
        runtime = sum("onnxruntime" in place for place in places) / max(len(places), 1)
        own = found["asking"]["own"]
        found["asking"] |= {"own": own * (1 - runtime), "model cpu": own * runtime}
        samples.unlink()
    return found


def table(results: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """What was measured, by way: medians."""
    heads = ["model", "rows asked", "processor time of the model itself", "ours", "ours, of the model's"]
    heads += ["of ours, during `predict`", "around `predict` in the model's own process", "seconds asked"]
    heads += ["of these outside `predict`", "peak memory"]
    yield f"| {' | '.join(heads)} |"
    yield "| --- |" + " ---: |" * (len(heads) - 1)
    for way, runs in results.items():
        middle = {
            key: statistics.median([one["asking"].get(key, float("nan")) for one in runs])
            for key in set().union(*(one["asking"] for one in runs))
        }
        libraries = statistics.median([one["libraries"] for one in runs])
        rows, model, own = middle.get("model rows"), middle["model cpu"], middle["own"]
        cells = [f"{rows:,.0f}" if rows else "", f"{model:.1f} s"]
        hidden = around = outside = ""
        if way.startswith("in process"):
            own -= model
            hidden = f"{100 * middle['model meanwhile'] / own:.0f} %"
            outside = f"{middle['at'] - middle['model seconds']:.1f} s"
        elif "model whole" in middle:
            around = f"{middle['model whole'] - model:.1f} s"
        cells += [f"{own:.2f} s", f"{100 * own / model:.0f} %", hidden, around]
        cells += [f"{middle['at']:.1f} s", outside, f"{middle['peak']:.0f} MB ({libraries:.0f} before the audit)"]
        yield f"| {WAYS.get(way, way)} | " + " | ".join(cells) + " |"


def main(path: Path, runs: int, ways: list[str], beside: Path | None, evidence: bool, free: bool) -> None:
    """Measures all ways in turn, and prints a record."""
    results: dict[str, list[dict[str, Any]]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: this one stays small.
        subprocess.run([sys.executable, __file__, str(path), "--fit", str(folder)], check=True)
        for _ in range(runs):
            for way in ways:
                tested = evidence and way == "in process"
                results.setdefault(way, []).append(run(way, path, folder, None, tested, free))
                print(f"{way}: {results[way][-1]}", file=sys.stderr, flush=True)
                if way == "in process" and beside is not None:
                    before = run(way, path, folder, beside, evidence, free)
                    results.setdefault("in process, before", []).append(before)
                    print(f"before: {results['in process, before'][-1]}", file=sys.stderr, flush=True)
        rows = max((int(one["asking"].get("model rows", 0)) for found in results.values() for one in found), default=0)
        alone = [onnx_alone(path, folder, rows) for _ in range(runs)] if rows and "onnx" in ways else []
    for line in table(results):
        print(line)
    print()
    if alone:
        told = f"{statistics.median(alone):.2f} s of processor time"
        print(f"ONNX Runtime in Python, for {rows:,} rows as arrays that are ready: {told}.")
    for way, found in results.items():
        if tested := [one["evidence"] for one in found if one["evidence"]]:
            cpu, wall, most = (statistics.median([one[key] for one in tested]) for key in ("own", "at", "peak"))
            print(f"Evidence, {way}: {cpu:.2f} s of processor time in {wall:.1f} s; {most:.0f} MB at most by then.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("adult", type=Path, nargs="?", help="Adult as CSV, all 48,842 rows")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--beside", type=Path, metavar="FOLDER", help="another build of the package")
    parser.add_argument("--evidence", action="store_true", help="gather it too, where the model is in the same process")
    parser.add_argument("--free", action="store_true", help="let all features change")
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--program", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.program:
        program(given.program[0], Path(given.program[1]))
    elif given.serve:
        serve(given.serve)
    elif given.adult is None:
        parser.error("which file?")
    elif given.fit:
        fit(given.adult, given.fit)
    elif given.measure:
        way, folder = given.measure
        print(json.dumps(measure(way, given.adult, Path(folder), given.evidence, given.free)))
    else:
        main(given.adult, given.runs, given.ways, given.beside, given.evidence, given.free)
