"""Progress, where somebody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

Tell = Callable[[str, int, int], object]

# A phase that is over sooner than this is not worth a bar.
_PATIENCE = 0.7


def teller(progress: bool | Tell | None) -> tuple[Tell | None, Callable[[], None]]:
    """Who is told of progress, and how to end it.

    None shows tqdm's bars if it is installed and somebody can see them; True asks for them; False
    for silence. A function is called with (phase, done, total).
    """
    if progress is None:
        progress = _is_watched()
    if progress is False:
        return None, lambda: None
    if callable(progress):
        return progress, lambda: None
    try:
        # Bars made of widgets only where there are widgets.
        if find_spec("ipywidgets") is None:
            from tqdm import tqdm
        else:
            from tqdm.auto import tqdm
    except ImportError:
        return None, lambda: None
    bars = _Bars(tqdm)
    return bars.tell, bars.close


def _is_watched() -> bool:
    # A notebook shows bars wherever its standard error goes.
    return "IPython" in sys.modules and "ipykernel" in sys.modules or sys.stderr.isatty()


class _Bars:
    """One bar a phase."""

    def __init__(self, tqdm: Any) -> None:
        self.tqdm = tqdm
        self.bar: Any = None
        self.phase = ""
        self.start = time.monotonic()

    def tell(self, phase: str, done: int, total: int) -> None:
        if phase != self.phase:
            self.close()
            self.phase, self.start = phase, time.monotonic()
        if total == 0 or (self.bar is None and time.monotonic() - self.start < _PATIENCE):
            return
        if self.bar is None:
            self.bar = self.tqdm(total=total, desc=phase, leave=False)
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
