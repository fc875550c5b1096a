"""What both fits share: the grid of profiles, log-linear terms, the hold-out rule, the optimiser."""

import itertools
import json

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

jax.config.update("jax_enable_x64", True)

HELD_OUT_EVERY = 5


def held_out(itemset):
    """The rule, fixed before anything was fitted: FNV-1a (64 bits) of the itemset's text, modulo 5.

    The text is `feature=level & feature=level …` with features in code point order, as published.
    """
    value = 0xCBF29CE484222325
    for byte in itemset.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value % HELD_OUT_EVERY == 0


class Grid:
    """Every combination of the levels of some features, the last feature running fastest."""

    def __init__(self, features):
        self.names = list(features)
        self.levels = list(features.values())
        self.sizes = [len(levels) for levels in self.levels]
        self.cells = np.stack([axis.ravel() for axis in np.meshgrid(*map(np.arange, self.sizes), indexing="ij")], 1)

    def members(self, items):
        """Which cells satisfy all of some (feature, level) pairs."""
        inside = np.ones(len(self.cells), bool)
        for feature, level in items:
            f = self.names.index(feature)
            inside &= self.cells[:, f] == self.levels[f].index(level)
        return inside

    def moved(self, changes):
        """For each cell, the cell it becomes under some (feature, level) assignments."""
        cells = self.cells.copy()
        for feature, level in changes:
            f = self.names.index(feature)
            cells[:, f] = self.levels[f].index(level)
        return np.ravel_multi_index(cells.T, self.sizes)

    def terms(self, order):
        """The log-linear terms of an order: tuples of features, and for each its place per cell."""
        found, start = [], 0
        for features in itertools.combinations(range(len(self.names)), order):
            sizes = [self.sizes[f] for f in features]
            index = np.ravel_multi_index(self.cells[:, list(features)].T, sizes)
            found.append((features, start + index))
            start += int(np.prod(sizes))
        return found, start


def minimise(loss, start, steps):
    """L-BFGS with exact gradients; prints where it ended."""
    value = jax.jit(jax.value_and_grad(loss))

    def both(x):
        v, g = value(jnp.asarray(x))
        return float(v), np.asarray(g, float)

    found = minimize(
        both, start, jac=True, method="L-BFGS-B", options={"maxiter": steps, "maxfun": 2 * steps, "maxcor": 30}
    )
    print(f"  loss {found.fun:.4f} after {found.nit} steps")
    return found.x


def micro(values):
    """Natural logarithms in millionths: whole numbers read the same everywhere."""
    return [int(round(1e6 * v)) for v in np.ravel(values)]


def write(path, parameters):
    """One key a line at the top, one term a line below: differences stay readable."""

    def lines(value, depth):
        pad = "  " * depth
        if isinstance(value, dict) and depth < 3:
            inner = ",\n".join(f"{pad}  {json.dumps(k)}: {lines(v, depth + 1)}" for k, v in value.items())
            return "{\n" + inner + "\n" + pad + "}"
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n" + ",\n".join(f"{pad}  {json.dumps(v)}" for v in value) + "\n" + pad + "]"
        return json.dumps(value, separators=(",", ":"))

    path.write_text(lines(parameters, 0) + "\n")
    print(f"wrote {path} ({path.stat().st_size:,} bytes)")
