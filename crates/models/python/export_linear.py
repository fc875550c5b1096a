"""Writes a fitted scikit-learn pipeline as a linear model that facts reads without Python.

    python export_linear.py pipeline.joblib model.json
    python export_linear.py pipeline.joblib model.json --check rows.csv

The result is exact: scalers and encoders are folded into the coefficients, and the score is what
`decision_function` computes, up to the rounding of the last digits. What is no sum of one term a
column is refused.

Taken are pipelines of ColumnTransformer, FeatureUnion, OneHotEncoder, OrdinalEncoder,
StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, SimpleImputer, feature selection and
"passthrough", that end in LogisticRegression, SGDClassifier, LinearSVC, RidgeClassifier, Perceptron
or another linear classifier with two classes.

What a pipeline fills in for a missing value cannot be written as a sum of this form: facts stops at
such a row and names the column. A note says so.

Needs nothing but scikit-learn (and joblib and pandas, which come with it or with your data).
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass, field

import numpy as np

LINEAR = {
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LogisticRegression",
    "LogisticRegressionCV",
    "PassiveAggressiveClassifier",
    "Perceptron",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
}


class NotLinear(ValueError):
    """The pipeline cannot be written as an intercept and one term a column."""


@dataclass
class Raw:
    """A column as the table holds it."""

    column: str
    # A value that stands for missing, and what an imputer puts in its place.
    replaced: dict = field(default_factory=dict)


@dataclass
class Number:
    """slope * column + offset."""

    column: str
    slope: float = 1.0
    offset: float = 0.0

    def affine(self, slope, offset):
        return Number(self.column, self.slope * slope, self.offset * slope + offset)


@dataclass
class Levels:
    """A number for each value of a column; `default` for values that are not listed."""

    column: str
    values: dict
    default: float = 0.0

    def affine(self, slope, offset):
        values = {level: value * slope + offset for level, value in self.values.items()}
        return Levels(self.column, values, self.default * slope + offset)


class Exporter:
    """Follows each column through the pipeline."""

    def __init__(self):
        self.notes = []
        # How encoders treat values that they do not know: {"zero"}, {"error"} or both.
        self.unseen = set()
        # Columns in which a missing value means something that a sum cannot say.
        self.missing_matters = set()

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def transform(self, step, features):
        if step is None or step == "passthrough":
            return features
        kind = type(step).__name__
        handler = getattr(self, "_" + kind, None)
        if handler is not None:
            return handler(step, features)
        if hasattr(step, "get_support"):
            return [f for f, kept in zip(features, step.get_support()) if kept]
        raise NotLinear(f"{kind} is not a sum of one term a column; use ONNX for this pipeline (skl2onnx)")

    # Structure.

    def _Pipeline(self, step, features):
        for _, inner in step.steps:
            features = self.transform(inner, features)
        return features

    def _FeatureUnion(self, step, features):
        if step.transformer_weights:
            raise NotLinear("FeatureUnion with transformer_weights is not supported")
        parts = (self.transform(inner, features) for _, inner in step.transformer_list if inner != "drop")
        return [feature for part in parts for feature in part]

    def _ColumnTransformer(self, step, features):
        if step.transformer_weights:
            raise NotLinear("ColumnTransformer with transformer_weights is not supported")
        names = list(getattr(step, "feature_names_in_", []))
        made = []
        for _, inner, columns in step.transformers_:
            if isinstance(inner, str) and inner == "drop":
                continue
            chosen = [features[at] for at in positions(columns, names, len(features))]
            if chosen:
                made.extend(self.transform(inner, chosen))
        return made

    def _FunctionTransformer(self, step, features):
        if step.func is not None:
            raise NotLinear("FunctionTransformer with a function of its own cannot be looked into")
        return features

    # Scalers: a slope and an offset each.

    def scaled(self, features, slopes, offsets):
        return [
            self.number(feature).affine(float(slope), float(offset))
            for feature, slope, offset in zip(features, slopes, offsets)
        ]

    def number(self, feature):
        if isinstance(feature, Raw):
            if feature.replaced:
                raise NotLinear(
                    f"in `{feature.column}` SimpleImputer replaces a number that stands for missing, "
                    "which is not a straight line"
                )
            return Number(feature.column)
        return feature

    def _StandardScaler(self, step, features):
        ones = np.ones(len(features))
        scale = step.scale_ if step.scale_ is not None else ones
        mean = step.mean_ if step.with_mean and step.mean_ is not None else 0 * ones
        return self.scaled(features, 1 / scale, -mean / scale)

    def _MinMaxScaler(self, step, features):
        if step.clip:
            raise NotLinear("MinMaxScaler(clip=True) is not a straight line")
        return self.scaled(features, step.scale_, step.min_)

    def _MaxAbsScaler(self, step, features):
        if getattr(step, "clip", False):
            raise NotLinear("MaxAbsScaler(clip=True) is not a straight line")
        return self.scaled(features, 1 / step.scale_, np.zeros(len(features)))

    def _RobustScaler(self, step, features):
        ones = np.ones(len(features))
        scale = step.scale_ if step.with_scaling else ones
        center = step.center_ if step.with_centering else 0 * ones
        return self.scaled(features, 1 / scale, -center / scale)

    # Imputers: nothing changes but for missing values.

    def _SimpleImputer(self, step, features):
        if step.add_indicator:
            raise NotLinear("SimpleImputer(add_indicator=True) adds a term for missing values")
        if len(step.statistics_) != len(features):
            raise NotLinear("SimpleImputer does not fit its columns")
        made = []
        for feature, fill in zip(features, step.statistics_):
            if not isinstance(feature, Raw):
                raise NotLinear("SimpleImputer after another step is not supported; put it first")
            if is_missing(fill):
                if not step.keep_empty_features:
                    continue  # a column that was empty in training is dropped
                raise NotLinear(f"`{feature.column}` was empty in training")
            replaced = {} if is_missing(step.missing_values) else {step.missing_values: fill}
            if not replaced or step.missing_values == "":
                self.missing_matters.add(feature.column)
            made.append(Raw(feature.column, replaced))
        return made

    # Encoders: a number for each value.

    def raw(self, feature, kind):
        if not isinstance(feature, Raw):
            raise NotLinear(f"{kind} after another step than SimpleImputer is not supported")
        return feature

    def _OneHotEncoder(self, step, features):
        made = []
        drop = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(features)
        grouped = getattr(step, "infrequent_categories_", [None] * len(features))
        for feature, categories, dropped, infrequent in zip(features, step.categories_, drop, grouped):
            feature = self.raw(feature, "OneHotEncoder")
            rare = set() if infrequent is None else set(infrequent)
            if rare and step.handle_unknown == "infrequent_if_exist":
                raise NotLinear(
                    f"in `{feature.column}` unknown values count as infrequent ones, for which there is "
                    "no term; fit with handle_unknown='ignore' or 'error'"
                )
            # One output a category, the infrequent ones together in the last; `drop_idx_` counts in
            # all categories.
            outputs = [[c] for c in categories if c not in rare] + ([sorted(rare)] if rare else [])
            gone = None if dropped is None else categories[dropped]
            for output in outputs:
                if gone is not None and any(same(gone, c) for c in output):
                    continue
                ones = {c: float(any(same(c, o) for o in output)) for c in categories}
                made.append(self.levels(feature, ones))
        self.unseen.add("error" if step.handle_unknown == "error" else "zero")
        return made

    def _OrdinalEncoder(self, step, features):
        made = []
        for feature, categories in zip(features, step.categories_):
            feature = self.raw(feature, "OrdinalEncoder")
            if getattr(step, "max_categories", None) or getattr(step, "min_frequency", None):
                raise NotLinear("OrdinalEncoder with infrequent categories is not supported")
            made.append(self.levels(feature, {c: float(i) for i, c in enumerate(categories)}))
            if step.handle_unknown == "use_encoded_value":
                if is_missing(step.unknown_value):
                    raise NotLinear("OrdinalEncoder(unknown_value=nan) leaves a hole in the sum")
                made[-1].default = float(step.unknown_value)
        self.unseen.add("error" if step.handle_unknown == "error" else "zero")
        return made

    def levels(self, feature, values):
        """By the text that facts has for each value."""
        texts = {}
        for category, value in values.items():
            if is_missing(category):
                self.missing_matters.add(feature.column)
                continue
            for text in spellings(category):
                texts[text] = value
        for stands_for_missing, fill in feature.replaced.items():
            for text in spellings(stands_for_missing):
                texts[text] = next((v for c, v in values.items() if same(c, fill)), 0.0)
        return Levels(feature.column, texts)


def positions(columns, names, width):
    """Where the columns of a ColumnTransformer stand."""
    if isinstance(columns, slice):
        ends = [names.index(e) if isinstance(e, str) else e for e in (columns.start, columns.stop)]
        if isinstance(columns.stop, str):
            ends[1] += 1
        return list(range(width))[slice(ends[0], ends[1], columns.step)]
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    columns = list(columns)
    if columns and all(isinstance(c, (bool, np.bool_)) for c in columns):
        return [at for at, chosen in enumerate(columns) if chosen]
    return [names.index(c) if isinstance(c, str) else int(c) for c in columns]


def is_missing(value):
    """None, NaN, or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def same(a, b):
    return (is_missing(a) and is_missing(b)) or (not is_missing(a) and not is_missing(b) and a == b)


def spellings(category):
    """How a table may write a value: 3 is also 3.0, and True is also true."""
    if isinstance(category, (bool, np.bool_)):
        return [str(bool(category)).lower(), str(bool(category))]
    if isinstance(category, (int, np.integer)):
        return [str(int(category)), repr(float(category))]
    if isinstance(category, (float, np.floating)):
        texts = [repr(float(category))]
        return texts + [str(int(category))] if float(category).is_integer() else texts
    return [str(category)]


def export(pipeline, columns=None):
    """The model as a dictionary, ready for `json.dump`.

    `columns` names the columns of a pipeline that was fitted on an array without names. Notes about
    what a user should know are printed to the standard error.
    """
    classifier, before = (pipeline.steps[-1][1], pipeline.steps[:-1]) if hasattr(pipeline, "steps") else (pipeline, [])
    kind = type(classifier).__name__
    if kind not in LINEAR:
        raise NotLinear(f"{kind} is not a linear classifier; use ONNX for this pipeline (skl2onnx)")
    if not hasattr(classifier, "coef_"):
        raise NotLinear(f"{kind} is not fitted yet; call fit first")
    if len(classifier.classes_) != 2:
        raise NotLinear(f"{kind} tells {len(classifier.classes_)} classes apart; only two can be audited")
    names = columns or list(getattr(pipeline, "feature_names_in_", []))
    if not names:
        raise NotLinear(
            "the pipeline was fitted on an array without column names; fit it on a DataFrame, or name "
            "the columns (--columns age,hours,...)"
        )

    exporter = Exporter()
    features = [Raw(str(name)) for name in names]
    for _, step in before:
        features = exporter.transform(step, features)
    features = [exporter.number(feature) for feature in features]
    coefficients = np.asarray(classifier.coef_, dtype=float).ravel()
    if len(coefficients) != len(features):
        raise NotLinear(
            f"the classifier has {len(coefficients)} coefficients and the steps before it make "
            f"{len(features)} columns; one of the steps is not understood"
        )

    intercept = float(np.ravel(classifier.intercept_)[0])
    levels, numbers = {}, {}
    for feature, coefficient in zip(features, coefficients.tolist()):
        if isinstance(feature, Number):
            intercept += coefficient * feature.offset
            slope = coefficient * feature.slope
            numbers[feature.column] = numbers.get(feature.column, 0.0) + slope
        else:
            # What an unknown value adds goes to the intercept, so that it adds zero itself.
            intercept += coefficient * feature.default
            terms = levels.setdefault(feature.column, {})
            for level, value in feature.values.items():
                terms[level] = terms.get(level, 0.0) + coefficient * (value - feature.default)

    unseen = "zero" if "zero" in exporter.unseen else "error"
    if len(exporter.unseen) > 1:
        exporter.note(
            "some encoders stop at values that they do not know and some ignore them; the linear model "
            "ignores them in all columns"
        )
    for column in sorted(exporter.missing_matters):
        exporter.note(f"rows in which `{column}` is missing will be stopped at, not filled in")
        if unseen == "zero" and column in levels:
            # Ignored, a missing value would add zero where the pipeline adds something else.
            unseen = "error"
            exporter.note("values that the encoders do not know will be stopped at, not ignored")
    exporter.note(f"the positive class is {classifier.classes_.tolist()[1]!r}")
    for note in exporter.notes:
        print(f"note: {note}", file=sys.stderr)
    return {"intercept": intercept, "levels": levels, "numbers": numbers, "unseen": unseen}


def scores(model, rows):
    """What facts computes from an exported model, for rows in a DataFrame; above 0 is yes."""
    total = np.full(len(rows), model["intercept"])
    for column, terms in model["levels"].items():
        adds = [terms.get(spellings(value)[0]) for value in rows[column]]
        unknown = next((v for v, add in zip(rows[column], adds) if add is None), None)
        if unknown is not None and model["unseen"] == "error":
            raise ValueError(f"`{column}` has no term for {unknown!r}")
        total += [0.0 if add is None else add for add in adds]
    for column, slope in model["numbers"].items():
        total += slope * rows[column].to_numpy(dtype=float)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pipeline", help="a fitted pipeline, saved with joblib.dump or pickle")
    parser.add_argument("model", help="the file to write, such as model.json")
    parser.add_argument("--columns", help="column names, with commas, if it was fitted on an array")
    parser.add_argument("--check", metavar="CSV", help="compare both on these rows")
    arguments = parser.parse_args()

    import joblib

    pipeline = joblib.load(arguments.pipeline)
    columns = arguments.columns.split(",") if arguments.columns else None
    try:
        model = export(pipeline, columns)
    except NotLinear as error:
        sys.exit(f"error: {error}")
    with open(arguments.model, "w", encoding="utf-8") as file:
        json.dump(model, file, indent=1, ensure_ascii=False)
        file.write("\n")
    if arguments.check:
        import pandas as pd

        rows = pd.read_csv(arguments.check)[list(pipeline.feature_names_in_)]
        ours, theirs = scores(model, rows), pipeline.decision_function(rows)
        differing = int(np.sum((ours > 0) != (theirs > 0)))
        print(
            f"{differing} of {len(rows)} rows are classed otherwise; "
            f"scores differ by {np.max(np.abs(ours - theirs)):.1e} at most",
            file=sys.stderr,
        )
        if differing:
            sys.exit(1)


if __name__ == "__main__":
    main()
