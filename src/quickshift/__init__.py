"""Mode-seeking by Quick Shift: clusters for every tau from one exact, fast fit.

The estimators follow scikit-learn. `quickshift.stages` has the steps that they are made of, and
`quickshift.reference` the paper's algorithms line by line in NumPy. Names are loaded when they are
first used, so importing the package is fast.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quickshift import (
        bandwidth,
        compat,
        config,
        datasets,
        distributed,
        estimators,
        explorer,
        image,
        kernels,
        plot,
        reference,
        stages,
    )
    from quickshift.config import show_config
    from quickshift.estimators import (
        Diagnosis,
        ModalRegressor,
        QuickShift,
        call_last_step,
        diagnose,
        trace_branches,
    )
    from quickshift.explorer import explore
    from quickshift.image import (
        SegmentForest,
        boundary_strength,
        count_pieces,
        enforce_connectivity,
        mean_color,
        segment,
        segment_forest,
        segment_tiles,
    )
    from quickshift.stages import (
        Branch,
        ClusterTree,
        ConditionalModes,
        PredictionSet,
        merge_distortion,
    )

__version__ = "0.1.0.dev0"

__all__ = [
    "Branch",
    "ClusterTree",
    "ConditionalModes",
    "Diagnosis",
    "ModalRegressor",
    "PredictionSet",
    "QuickShift",
    "SegmentForest",
    "bandwidth",
    "boundary_strength",
    "call_last_step",
    "compat",
    "config",
    "count_pieces",
    "datasets",
    "diagnose",
    "distributed",
    "enforce_connectivity",
    "estimators",
    "explore",
    "explorer",
    "image",
    "kernels",
    "mean_color",
    "merge_distortion",
    "plot",
    "reference",
    "segment",
    "segment_forest",
    "segment_tiles",
    "show_config",
    "stages",
    "trace_branches",
]

_HOMES = {
    "Branch": "quickshift.stages",
    "ClusterTree": "quickshift.stages",
    "ConditionalModes": "quickshift.stages",
    "Diagnosis": "quickshift.estimators",
    "ModalRegressor": "quickshift.estimators",
    "PredictionSet": "quickshift.stages",
    "QuickShift": "quickshift.estimators",
    "SegmentForest": "quickshift.image",
    "boundary_strength": "quickshift.image",
    "call_last_step": "quickshift.estimators",
    "count_pieces": "quickshift.image",
    "diagnose": "quickshift.estimators",
    "enforce_connectivity": "quickshift.image",
    "explore": "quickshift.explorer",
    "mean_color": "quickshift.image",
    "merge_distortion": "quickshift.stages",
    "segment": "quickshift.image",
    "segment_forest": "quickshift.image",
    "segment_tiles": "quickshift.image",
    "show_config": "quickshift.config",
    "trace_branches": "quickshift.estimators",
}


def __getattr__(name: str) -> Any:
    if name == "_core":
        return _import_core()
    if name not in __all__:
        raise AttributeError(f"module 'quickshift' has no attribute {name!r}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    return import_module(f"quickshift.{name}")


def _import_core() -> ModuleType:
    """Import the native core, and let signals such as Ctrl-C wait meanwhile.

    While the core creates its enums, an exception from a handler of signals would end the process.
    """
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():  # handlers do not run here
        return import_module("quickshift._core")
    waiting: list[tuple[int, Any]] = []
    handlers: dict[int, Any] = {n: signal.getsignal(n) for n in signal.valid_signals()}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in handlers:
            signal.signal(number, lambda *arguments: waiting.append(arguments))
        core = import_module("quickshift._core")
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number, frame in waiting:
        handlers[number](number, frame)
    return core


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__", "__doc__", "__name__"})
