"""Trains tree models with LightGBM and XGBoost, and lets them predict random rows.

    python trees_train.py DIRECTORY             # all cases, 10,000 rows each
    python trees_train.py --fixture DIRECTORY   # the small models kept beside this file

For each case DIRECTORY gets the model, a Parquet table of rows with the library's own answers
(`expected_probability`, `expected_yes`) and a `group` to audit, and an entry in cases.json.
"""

import json
import pathlib
import sys
import warnings

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb

warnings.filterwarnings("ignore")

ROWS = 10_000
NUMBERS = ["hours per week", "age", "gain"]
JOBS = ["clerk", "manager", "nurse", " driver", "cook", "smith", "none", "a=b", "x,y", "farmer"]
REGIONS = [f"region-{i}" for i in range(45)]
BANDS = [10, 20, 25, 40, 80, 160]
SCHOOLS = ["none", "primary", "secondary", "tertiary"]


def people(rng, n, missing=0.0):
    """Random people; a share of each column is missing."""
    table = pd.DataFrame(
        {
            "hours per week": np.round(rng.normal(38, 12, n), 1),
            "age": rng.integers(17, 90, n).astype(float),
            "gain": np.where(rng.random(n) < 0.6, 0.0, np.round(rng.exponential(2000, n), 2)),
            "job": rng.choice(JOBS, n).astype(object),
            "region": rng.choice(REGIONS, n).astype(object),
            "band": rng.choice(BANDS, n).astype(float),
            "school": rng.choice(SCHOOLS, n).astype(object),
            "member": rng.choice([True, False], n).astype(object),
        }
    )
    for column in table.columns:
        table.loc[rng.random(n) < missing, column] = None
    return table


def outcome(rng, table):
    """Who is accepted: something of everything, and noise."""
    n = len(table)
    hours = table["hours per week"].fillna(55).to_numpy(float)
    score = (hours - 38) / 12 + (table["age"].fillna(80).to_numpy(float) - 50) / 30
    score += np.log1p(np.abs(table["gain"].fillna(5000).to_numpy(float))) / 6
    score += table["job"].isin(["manager", "nurse", "a=b"]).to_numpy() * 1.2
    score += table["region"].isin(REGIONS[::3]).to_numpy() * 0.8
    score += table["band"].isin([25, 160]).to_numpy() * 0.7
    score += table["school"].map({s: i for i, s in enumerate(SCHOOLS)}).fillna(3).to_numpy(float) / 3
    score += table["member"].isna().to_numpy() * 1.0 + (table["member"] == True).to_numpy() * 0.4  # noqa: E712
    score += rng.normal(0, 0.6, n)
    return (score > np.median(score)).astype(int)


def odd_numbers(rng, table, columns):
    """Rows at the edges: zeros of both signs, tiny, huge, whole numbers, other people's values."""
    odd = [0.0, -0.0, 1e-36, -1e-36, 1e-20, 1e30, -1e30, 38.0, 37.95, 17.0, 0.1]
    for column in columns:
        rows = rng.random(len(table)) < 0.15
        table.loc[rows, column] = rng.choice(odd, rows.sum())


CATEGORIES = {"job": JOBS, "region": REGIONS, "band": BANDS, "member": [False, True]}


def with_categories(table, kinds, extra=()):
    """The table as it is given to a library: text as pandas categories."""
    table = table.copy()
    for column, known in kinds.items():
        ordered = column == "school"
        values = [v for v in [*known, *extra] if v in known or (table[column] == v).any()]
        if column in ("band",):
            table[column] = pd.Categorical(table[column].astype("Int64").astype(object), values)
            table[column] = table[column].cat.rename_categories([int(v) for v in values])
        else:
            table[column] = pd.Categorical(table[column], values, ordered=ordered)
    return table


class Cases:
    def __init__(self, directory, rows=ROWS):
        self.directory = pathlib.Path(directory)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.rows = rows
        self.cases = []

    def add(self, name, kind, save, table, probability, yes, extensions, order=()):
        table = table.copy()
        for column in table.columns:
            if isinstance(table[column].dtype, pd.CategoricalDtype):
                table[column] = table[column].astype(object)
        if "band" in table:
            table["band"] = table["band"].astype("Int64")
        if "member" in table:
            table["member"] = table["member"].astype("boolean")
        probability = np.asarray(probability, dtype=float)
        assert 0.02 < np.mean(yes) < 0.98, (name, np.mean(yes))
        table = table.assign(
            expected_probability=probability,
            expected_yes=np.asarray(yes, bool),
            group=np.where(np.arange(len(table)) % 3 == 0, "a", "b"),
        )
        table.to_parquet(self.directory / f"{name}.parquet", index=False)
        for extension in extensions:
            file = f"{name}.{extension}"
            save(str(self.directory / file))
            self.cases.append(
                {
                    "name": file,
                    "prefix": kind,
                    "file": file,
                    "rows": f"{name}.parquet",
                    "order": list(order),
                }
            )

    def done(self):
        (self.directory / "cases.json").write_text(json.dumps(self.cases, indent=1))


def lightgbm_cases(cases):
    rng = np.random.default_rng(1)

    def add(name, columns, missing, kinds=None, rows_missing=0.1, unseen=True, **parameters):
        kinds = kinds or {}
        train = people(rng, 4000, missing)[columns]
        y = outcome(rng, people(rng, 4000).assign(**train))
        classifier = lgb.LGBMClassifier(verbose=-1, n_jobs=1, min_data_per_group=10, **parameters)
        classifier.fit(with_categories(train, kinds), y)
        rows = people(rng, cases.rows, rows_missing)[columns]
        odd_numbers(rng, rows, [c for c in NUMBERS if c in columns])
        extra = []
        if unseen and kinds:
            extra = ["never seen", 7]
            for column in ("job", "region"):
                if column in kinds:
                    rows.loc[rng.random(len(rows)) < 0.05, column] = "never seen"
            if "band" in kinds:
                rows.loc[rng.random(len(rows)) < 0.05, "band"] = 7
        given = with_categories(rows, kinds, extra)
        probability = classifier.predict_proba(given)[:, 1]
        yes = classifier.predict(given) == 1
        if parameters.get("objective") == "cross_entropy":
            probability = classifier.booster_.predict(given)
            yes = probability > 0.5
        cases.add(f"lightgbm-{name}", "lightgbm", classifier.booster_.save_model, rows, probability, yes, ["txt"])

    add("numbers", NUMBERS, 0.0, n_estimators=60)
    add("missing", NUMBERS, 0.2, n_estimators=60)
    add("zero-as-missing", NUMBERS, 0.2, n_estimators=60, zero_as_missing=True)
    add("no-missing", NUMBERS, 0.2, n_estimators=60, use_missing=False)
    add("categories", [*NUMBERS, *CATEGORIES], 0.0, CATEGORIES, n_estimators=60)
    add("categories-one-hot", [*NUMBERS, *CATEGORIES], 0.1, CATEGORIES, n_estimators=60, max_cat_to_onehot=50)
    add("categories-missing", [*NUMBERS, *CATEGORIES], 0.2, CATEGORIES, n_estimators=60)
    add("categories-only", ["job", "region"], 0.1, {"job": JOBS, "region": REGIONS}, n_estimators=30)
    add(
        "dart",
        [*NUMBERS, *CATEGORIES],
        0.2,
        CATEGORIES,
        n_estimators=60,
        boosting_type="dart",
        drop_rate=0.3,
        skip_drop=0.2,
    )
    add(
        "rf",
        [*NUMBERS, *CATEGORIES],
        0.1,
        CATEGORIES,
        n_estimators=40,
        boosting_type="rf",
        bagging_freq=1,
        bagging_fraction=0.6,
    )
    add("cross-entropy", NUMBERS, 0.2, n_estimators=30, objective="cross_entropy")
    add("sigmoid", NUMBERS, 0.2, n_estimators=30, sigmoid=2.5, is_unbalance=True)
    add("deep", [*NUMBERS, *CATEGORIES], 0.1, CATEGORIES, n_estimators=300, num_leaves=255, min_child_samples=5)
    add("stumps", NUMBERS, 0.1, n_estimators=80, max_depth=1)
    add("one-tree", NUMBERS, 0.1, n_estimators=1, learning_rate=1.0)
    # An ordered pandas column is used as a number, but has its categories in the file all the same.
    kinds = {"job": JOBS, "school": SCHOOLS}
    add("ordered", [*NUMBERS, "job", "school"], 0.1, kinds, unseen=False, n_estimators=40)

    # An array without names, one column of it with numbers of categories.
    def array(n, rows):
        codes = rng.integers(0, 60, n).astype(float)
        x = np.c_[rng.normal(size=(n, 3)), codes]
        if rows:
            x[rng.random(x.shape) < 0.1] = np.nan
            x[rng.random(n) < 0.05, 3] = -3
            x[rng.random(n) < 0.05, 3] = 1000
            x[rng.random(n) < 0.05, 3] = 7.9
        return x

    x = array(4000, False)
    y = (x[:, 0] + (x[:, 3] % 3 == 0) + rng.normal(0, 0.5, 4000) > 0.3).astype(int)
    booster = lgb.train(
        {"objective": "binary", "verbose": -1, "min_data_per_group": 10, "num_threads": 1},
        lgb.Dataset(x, y, categorical_feature=[3]),
        40,
    )
    x = array(cases.rows, True)
    names = ["first", "second", "third", "fourth"]
    p = booster.predict(x)
    rows = pd.DataFrame(x, columns=names)
    cases.add("lightgbm-array", "lightgbm", booster.save_model, rows, p, p > 0.5, ["txt"], names)


def xgboost_cases(cases):
    rng = np.random.default_rng(2)
    kinds = {"job": JOBS, "region": REGIONS, "band": BANDS}
    everything = [*NUMBERS, *kinds]

    def add(name, columns, missing, kinds=None, make=xgb.XGBClassifier, stop=False, **parameters):
        kinds = kinds or {}
        train = people(rng, 4000, missing)[columns]
        y = outcome(rng, people(rng, 4000).assign(**train))
        given = with_categories(train, kinds)
        classifier = make(enable_categorical=bool(kinds), n_jobs=1, **parameters)
        if stop:
            held_out = people(rng, 1000, missing)[columns]
            held_y = outcome(rng, people(rng, 1000).assign(**held_out))
            classifier.fit(given, y, eval_set=[(with_categories(held_out, kinds), held_y)], verbose=False)
            assert classifier.best_iteration + 1 < classifier.get_booster().num_boosted_rounds()
        else:
            classifier.fit(given, y)
        rows = people(rng, cases.rows, 0.1)[columns]
        odd_numbers(rng, rows, [c for c in NUMBERS if c in columns])
        given = with_categories(rows, kinds)
        objective = parameters.get("objective", "binary:logistic")
        if objective == "binary:logitraw":
            margin = classifier.get_booster().predict(xgb.DMatrix(given, enable_categorical=bool(kinds)))
            probability = 1 / (1 + np.exp(-margin.astype(float)))
            yes = margin > 0
        elif objective == "binary:hinge":
            yes = classifier.predict(given) == 1
            probability = yes.astype(float)
        else:
            probability = classifier.predict_proba(given)[:, 1]
            yes = classifier.predict(given) == 1
        cases.add(f"xgboost-{name}", "xgboost", classifier.save_model, rows, probability, yes, ["json", "ubj"])

    add("numbers", NUMBERS, 0.0, n_estimators=100, max_depth=6)
    add("missing", NUMBERS, 0.2, n_estimators=100, max_depth=4)
    add("categories", everything, 0.0, kinds, n_estimators=60, max_depth=5, max_cat_to_onehot=1)
    add("categories-one-hot", everything, 0.1, kinds, n_estimators=60, max_depth=5, max_cat_to_onehot=100)
    add("categories-missing", everything, 0.2, kinds, n_estimators=60, max_depth=6, max_cat_to_onehot=4)
    add("dart", everything, 0.2, kinds, n_estimators=40, booster="dart", rate_drop=0.4, one_drop=True)
    add("rf", everything, 0.1, kinds, make=xgb.XGBRFClassifier, n_estimators=40, max_depth=6)
    add("deep", everything, 0.1, kinds, n_estimators=300, max_depth=12)
    add("stumps", NUMBERS, 0.1, n_estimators=50, max_depth=1)
    add("pruned", NUMBERS, 0.1, n_estimators=40, max_depth=6, tree_method="exact", gamma=3.0)
    add("leafwise", NUMBERS, 0.1, n_estimators=40, max_leaves=40, max_depth=0, grow_policy="lossguide")
    add("base-score", NUMBERS, 0.1, n_estimators=20, base_score=0.2)
    add("logitraw", NUMBERS, 0.1, n_estimators=30, objective="binary:logitraw", base_score=0.3)
    add("hinge", NUMBERS, 0.1, n_estimators=30, objective="binary:hinge")
    add("reg-logistic", NUMBERS, 0.1, n_estimators=30, objective="reg:logistic")
    add("stopped", everything, 0.1, kinds, stop=True, n_estimators=400, max_depth=6, early_stopping_rounds=5)
    add(
        "stopped-dart",
        NUMBERS,
        0.1,
        stop=True,
        n_estimators=150,
        booster="dart",
        rate_drop=0.1,
        early_stopping_rounds=3,
    )

    # An array without names, one column of it with numbers of categories.
    def array(n, rows):
        x = np.c_[rng.normal(size=(n, 3)), rng.integers(0, 60, n).astype(float)]
        x[rng.random(x.shape) < 0.1] = np.nan
        if rows:
            x[rng.random(n) < 0.05, 3] = 1000
            x[rng.random(n) < 0.05, 3] = 7.9
        return x

    x = array(4000, False)
    y = (np.nan_to_num(x[:, 0]) + (x[:, 3] % 3 == 0) + rng.normal(0, 0.5, 4000) > 0.3).astype(int)
    types = ["float", "float", "float", "c"]
    booster = xgb.train(
        {"objective": "binary:logistic", "max_cat_to_onehot": 1, "max_depth": 5, "nthread": 1},
        xgb.DMatrix(x, y, feature_types=types, enable_categorical=True),
        40,
    )
    x = array(cases.rows, True)
    p = booster.predict(xgb.DMatrix(x, feature_types=types, enable_categorical=True))
    names = ["first", "second", "third", "fourth"]
    rows = pd.DataFrame(x, columns=names)
    cases.add("xgboost-array", "xgboost", booster.save_model, rows, p, p > 0.5, ["json", "ubj"], names)


def fixture(directory):
    """Three trees of each library, and forty rows with their answers."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(3)
    columns = ["hours per week", "age", "job", "band"]
    kinds = {"job": JOBS, "band": BANDS}
    train = people(rng, 2000, 0.1)[columns]
    y = outcome(rng, people(rng, 2000).assign(**train))
    given = with_categories(train, kinds)
    light = lgb.LGBMClassifier(
        n_estimators=3, num_leaves=6, learning_rate=0.5, min_data_per_group=10, verbose=-1, n_jobs=1
    ).fit(given, y)
    light.booster_.save_model(str(directory / "lightgbm.txt"))
    extreme = xgb.XGBClassifier(
        n_estimators=3, max_depth=3, learning_rate=0.5, enable_categorical=True, max_cat_to_onehot=1
    ).fit(given, y)
    for extension in ("json", "ubj"):
        extreme.save_model(str(directory / f"xgboost.{extension}"))
    rows = people(rng, 40, 0.15)[columns]
    rows["hours per week"] = rows["hours per week"].astype(float)
    given = with_categories(rows, kinds)
    rows["band"] = rows["band"].astype("Int64")
    rows = rows.assign(
        lightgbm=light.predict_proba(given)[:, 1],
        xgboost=extreme.predict_proba(given)[:, 1].astype(float),
    )
    rows.to_csv(directory / "rows.csv", index=False)


if __name__ == "__main__":
    if sys.argv[1] == "--fixture":
        fixture(sys.argv[2])
    else:
        cases = Cases(sys.argv[1])
        lightgbm_cases(cases)
        xgboost_cases(cases)
        cases.done()
