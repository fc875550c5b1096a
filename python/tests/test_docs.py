"""The documentation's commands and Python run as they are written.

A page's commands run one after the other in a folder that holds what the page speaks of, under the names that it uses.
What is about databases and Spark runs in `engines/test_documentation.py`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import HIRING
from documentation import PAGES, ROOT, Block, blocks, make_models, unmarked
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

COMMAND = Path(os.environ.get("FACTS_COMMAND", ROOT / "target" / "debug" / "facts"))

# What is not run here, and why.
LEFT_OUT = {
    r"cargo run --release -- demo\b": "the README's first command is a stage of scripts/test",
    r"\./scripts/test\b": "it runs this test",
    r"cargo install --path crates/cli\b": "scripts/test builds the command from its packed crates",
    r"pip install \.": "scripts/test builds a wheel from the sdist and installs it in an empty environment",
    r"python3 -m pip install .*onnxruntime": "it is installed, or the models of these pages could not be asked",
    r"python3 -m venv \.venv-": "scripts/test makes these environments, under other names",
    r"\.venv-\S+/bin/pip install -r ": "scripts/test makes these environments, under other names",
    r"\(cd examples/exec && npm ci\)": "scripts/test does the same",
    r"FACTS_PYTHON\S*=.* cargo test ": "scripts/test runs these tests",
    r"mkdir -p target/served && ": "a server of MLflow, which crates/models/tests/http.rs starts",
    r"cd target/served && ": "a server of MLflow, which crates/models/tests/http.rs starts",
    r"facts init adult\.csv\.gz ": "a table of 48,842 rows, too large for a build without optimiser",
    r"for lender in hmda/": "199,999 shuffles for each lender take minutes",
    r"facts audit ['\"]?sql:": "databases are started for engines/test_documentation.py",
}
# Python that is compiled and not run.
COMPILED = {
    "net(torch.tensor": "PyTorch and Keras are not installed",
    "spark.read": "Spark is started for engines/test_documentation.py",
}
# Commands that say by their exit code what they found.
MAY_FIND = re.compile(r"facts check|--fail-on-change")


def why_left_out(command: str) -> str | None:
    return next((why for pattern, why in LEFT_OUT.items() if re.match(pattern, command)), None)


def run(folder: Path, command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs a line as a shell does, with the command on the path and this Python as `python3`."""
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=around(folder, **more), capture_output=True, text=True)
    allowed = (0, 1) if MAY_FIND.search(command) else (0,)
    assert done.returncode in allowed, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def around(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a command: nothing of the home of whoever runs the tests."""
    home = next(place for place in (folder, *folder.parents) if (place / ".bin").is_dir())
    path = os.pathsep.join([str(home / ".bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "HOME": str(home), "NO_COLOR": "1", **more}


class Served:
    """A server that a command starts, until it has said where it is; it is ended with the test."""

    def __init__(self, folder: Path, command: str) -> None:
        self.process = subprocess.Popen(
            ["sh", "-c", f"exec {command}"], cwd=folder, env=around(folder), stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout
        self.line = self.process.stdout.readline()
        found = re.match(r"Open http://([^/]+)/\?token=(\S+)", self.line)
        assert found, f"{command}: {self.line}"
        self.address, self.token = found.groups()

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()


@pytest.fixture(scope="session")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the pages speak of: tables, models, configurations, audits, keys."""
    assert COMMAND.is_file(), f"{COMMAND} is not there; build it, or name another in FACTS_COMMAND"
    folder = tmp_path_factory.mktemp("laid-out")
    (folder / ".bin").mkdir()
    (folder / ".bin" / "facts").symlink_to(COMMAND)
    for name in ("crates", "examples", "verification"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("people.csv", "model.json", "facts.toml"):
        shutil.copy(HIRING / name, folder)
    people = pd.read_csv(folder / "people.csv").drop(columns="kept")
    people.to_parquet(folder / "people.parquet")
    people.to_parquet(folder / "applicants.parquet")
    for place, name in enumerate(("site-a.csv", "site-b.csv")):
        # So many that profiles have counts that are kept.
        pd.concat([people.iloc[place::2]] * 20).to_csv(folder / name, index=False)
    make_models(folder)
    shutil.copy(folder / "model.txt", folder / "south.txt")
    (folder / "old.toml").write_text((folder / "facts.toml").read_text())
    (folder / "new.toml").write_text((folder / "facts.toml").read_text().replace("model.json", "harder.json"))
    model = (folder / "model.json").read_text()
    (folder / "harder.json").write_text(model.replace("-9.75", "-10.5"))
    [listed] = [block for block in blocks(ROOT / "docs" / "many-models.md") if block.language == "toml"]
    (folder / "lenders.toml").write_text(listed.text)
    (folder / ".ssh").mkdir()
    key = folder / ".ssh" / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ana", "-f", key], check=True)
    shutil.copy(f"{key}.pub", folder / "ana.pub")
    run(folder, "facts audit --out result")
    for name in ("before", "january", "february", "audits/1"):
        shutil.copytree(folder / "result", folder / name)
    run(folder, "facts audit --config new.toml --out after")
    for name in ("march", "audits/2", "result-of-last-month"):
        shutil.copytree(folder / "after", folder / name)
    return folder


@pytest.fixture
def folder(laid_out: Path, tmp_path: Path) -> Path:
    """A copy of that folder."""
    return Path(shutil.copytree(laid_out, tmp_path / "folder", symlinks=True))


def prepare(page: str, folder: Path) -> None:
    """What is otherwise on some pages."""
    if page in ("README", "command"):
        # These pages let `facts init` write it. They show a story: there are enough people for one.
        (folder / "facts.toml").unlink()
        shutil.rmtree(folder / "result")
        once = pd.read_csv(folder / "people.csv")
        pd.concat([once] * 7).to_csv(folder / "people.csv", index=False)
    if page == "README":
        # People of whom only the model says who is kept; the audit of last month was made so, too.
        pd.read_csv(folder / "people.csv").drop(columns="kept").to_csv(folder / "people.csv", index=False)
        shutil.rmtree(folder / "result-of-last-month")
        was = "--protected sex --model onnx:model.onnx --favourable 1 --out result-of-last-month"
        run(folder, f"facts audit people.csv {was}")
    if page == "explorer":
        (folder / "answers-yes.onnx").rename(folder / "model.onnx")


def to_type(page: Path) -> list[Block]:
    """The blocks of commands of a page."""
    return [block for block in blocks(page) if block.language in ("sh", "console")]


def typed(page: Path) -> list[str]:
    """The commands of a page."""
    return [line for block in to_type(page) for line in block.commands()]


@pytest.mark.parametrize("page", [page for page in PAGES if typed(page)], ids=lambda page: page.stem)
def test_the_commands_of_a_page(page: Path, folder: Path) -> None:
    prepare(page.stem, folder)
    where = folder
    for block in to_type(page):
        if page.stem == "first-screens":
            # Each block is about a table of its own, in a folder of its own, and left out as a whole.
            if why_left_out(block.commands()[0]):
                continue
            where = first_screen(folder, block)
        for command in block.commands():
            where = type_in(where, block, command)


def type_in(where: Path, block: Block, command: str) -> Path:
    """Types a command; gives the folder that the next one is typed in."""
    if command.startswith("cd ") and not why_left_out(command):
        return where / command[3:]
    if command.startswith("facts serve "):
        with Served(where, command):
            pass
    elif command.startswith("curl "):
        with Served(where, "facts serve result") as served:
            command = re.sub(r"127\.0\.0\.1:\d+", served.address, command)
            assert '"audits"' in run(where, command, TOKEN=served.token).stdout
    elif not why_left_out(command):
        printed = run(where, command).stdout
        if block.language == "console":
            # What is printed begins as the page says; an ellipsis is for any lines.
            assert printed.startswith(block.printed(command).split("...\n")[0].rstrip("\n")), command
    return where


def first_screen(folder: Path, block: Block) -> Path:
    """A folder with the table that a block of docs/first-screens.md is about, and nothing else."""
    table = block.commands()[0].split()[2]
    [path] = [folder / table] if table == "people.csv" else (ROOT / "data").glob(f"*/{table}")
    alone = folder / "first-screens" / table
    if not alone.is_dir():
        alone.mkdir(parents=True)
        shutil.copy(path, alone)
    return alone


def test_what_is_left_out_is_there() -> None:
    """Each reason has a command, and a file of the repository that such a command names exists."""
    commands = [command for page in PAGES for command in typed(page)]
    for pattern in LEFT_OUT:
        found = [command for command in commands if re.match(pattern, command)]
        assert found, f"no page says {pattern}"
        for command in found:
            for path in re.findall(r"(?:crates|examples|scripts)/[\w./-]+", command):
                assert (ROOT / path).exists(), path


def test_commands_are_marked_as_such() -> None:
    """A command in a block that does not say so would not be run."""
    assert {page.name: lines for page in PAGES if (lines := unmarked(page))} == {}


def python(page: Path) -> list[Block]:
    """The blocks of Python of a page."""
    return [block for block in blocks(page) if block.language == "python"]


@pytest.fixture(scope="session")
def names() -> dict[str, Any]:
    """People with what the pages say of them, and models of who gets a yes."""
    rng = np.random.default_rng(5)
    size = 1200
    X = pd.DataFrame(
        {
            "sex": rng.choice(["Female", "Male"], size),
            "age": rng.integers(18, 80, size),
            "education": rng.choice(["school", "college", "university"], size),
            "race": rng.choice(["a", "b"], size),
            "job": rng.choice(["clerk", "manager", "retired"], size, p=[0.6, 0.3, 0.1]),
            "city": rng.choice(["A", "B"], size),
            # A last column of few values would look like the outcome.
            "hours": rng.integers(10, 60, size),
        }
    )
    score = X["hours"] / 20 + (X["education"] == "university") + (X["job"] == "manager") + (X["sex"] == "Male")
    yes = (score + rng.normal(0, 0.5, size) > 3.5).astype(int)
    texts = [name for name in X if X[name].dtype.kind not in "iu"]

    def fitted(share: float) -> Any:
        encode = ColumnTransformer([("texts", OneHotEncoder(), texts)], remainder="passthrough")
        return make_pipeline(encode, LogisticRegression(C=share, max_iter=2000)).fit(X, yes)

    return {
        "X": X,
        "people": X,
        "pipeline": fitted(1.0),
        "model": fitted(1.0),
        "north": fitted(1.0),
        "new": fitted(0.01),
    }


def some_audits(names: dict[str, Any], **more: Any) -> Callable[..., Any]:
    import facts

    said = {"protected": "sex", "favourable": 1, "shuffles": 99, "resamples": 0, "progress": False, **more}
    return lambda model="pipeline": facts.audit(names[model], names["X"], **said)


@pytest.mark.filterwarnings("ignore::facts.FactsWarning")
@pytest.mark.parametrize("page", [page for page in PAGES if python(page)], ids=lambda page: page.stem)
def test_the_python_of_a_page(page: Path, folder: Path, names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import facts

    monkeypatch.chdir(folder)
    known = {**names, "facts": facts}
    if page.stem == "comparing":
        audited = some_audits(names, keep_people=True)
        known.update(
            before=audited(), after=audited("new"), january=audited(), february=audited(), march=audited("new")
        )
    if page.stem == "check":
        known["audit"] = some_audits(names)()
    if page.stem == "many-models":
        lgb_people = known["people"]
        import lightgbm as lgb

        rows = lgb_people.drop(columns="sex")
        rows = rows.astype({name: "category" for name in rows if rows[name].dtype.kind not in "iu"})
        answers = names["pipeline"].predict(lgb_people)
        lgb.train({"objective": "binary", "verbose": -1}, lgb.Dataset(rows, answers), 20).save_model("south.txt")
    for block in python(page):
        code = compile(block.text.replace("(…)", "(...)"), f"{page.name}", "exec")
        if any(words in block.text for words in COMPILED):
            continue
        if "def test_" in block.text:
            try_python(block.text, folder)
            continue
        exec(code, known)
    if page.stem in ("README", "python", "tutorial"):
        assert (folder / "report.html").stat().st_size > 10_000


def try_python(text: str, folder: Path) -> None:
    """Runs a block that is a test under pytest: once to accept what is found, and once against that."""
    head = (
        "import facts, pandas as pd, json\n"
        "X = pd.read_csv('people.csv').drop(columns='kept')\n"
        "pipeline = 'linear:model.json'\n\n"
    )
    (folder / "tests").mkdir()
    (folder / "test_recourse.py").write_text(head + text)
    for more in (["--facts-update-baseline"], []):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_recourse.py", *more]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
    assert (folder / "tests" / "facts.baseline.json").is_file()


def test_python_that_is_not_run_is_there() -> None:
    texts = [block.text for page in PAGES for block in python(page)]
    for words in COMPILED:
        assert any(words in text for text in texts), words


def test_the_picture_of_the_first_screen(tmp_path: Path) -> None:
    """`docs/first-screen.svg` is what `facts demo` prints, but for how long it took."""
    demo = subprocess.run([COMMAND, "demo", "-q", "--color", "always"], cwd=tmp_path, check=True, capture_output=True)
    script = ROOT / "scripts" / "picture"
    made = subprocess.run([sys.executable, script], input=demo.stdout, check=True, capture_output=True).stdout.decode()
    kept = (ROOT / "docs" / "first-screen.svg").read_text(encoding="utf-8")
    timed = re.compile(r"Made\u00a0in\u00a0[\d.]+\u00a0s")
    assert timed.sub("", made) == timed.sub("", kept)
