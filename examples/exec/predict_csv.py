"""A model as a program, over CSV, with nothing but Python's own library:
exec-csv:python examples/exec/predict_csv.py examples/exec/model.json

A header line comes first; then, for each batch, one line a row and an empty line. The answer to a
batch is one line a row and an empty line, flushed.
"""

import csv
import json
import sys


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        model = json.load(file)
    lines = csv.reader(iter(sys.stdin.readline, ""))
    header = next(lines)
    for line in lines:
        if not line:  # The batch is complete.
            print(flush=True)
            continue
        row = dict(zip(header, line))
        score = model["intercept"]
        for name, levels in model["levels"].items():
            score += levels.get(row[name], 0.0)
        for name, coefficient in model["numbers"].items():
            score += coefficient * float(row[name])
        print(int(score > 0))


if __name__ == "__main__":
    main()
