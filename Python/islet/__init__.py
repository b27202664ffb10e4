"""Islet, from Python.

    import islet
    study = islet.Study.read("Cohorts/quickstart.yaml").with_(duration="2d", **{"cohort.generate.count": 10})
    results = study.run("results/small")
    print(results.summary)

`islet.algorithm` writes dosing algorithms, `islet.gym` has environments for Gymnasium, `islet.open(DIR)` reads results. Importing this needs the
standard library alone; pandas, polars, pyarrow and xarray are imported where somebody asks for them. The program `islet` does all the work: it is
found by `ISLET`, on the path, or in `.build/release`.
"""

_WHERE = {
    "Study": "studies", "Results": "results", "open": "results", "IsletError": "program", "InputError": "program",
    "Interrupted": "program", "program": "program",
}

__all__ = sorted(_WHERE)


def __getattr__(name):
    # Lazily: `islet.algorithm` takes standard output for its protocol, and nobody else may be slow to import.
    if name not in _WHERE:
        raise AttributeError("module 'islet' has no attribute %r" % name)
    import importlib
    module = importlib.import_module("." + _WHERE[name], __name__)
    value = module if name == "program" else getattr(module, name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(list(globals()) + __all__)
