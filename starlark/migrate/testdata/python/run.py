"""run.py FILE: prints, for each component of FILE, the app it gives without arguments, as JSON."""
import dataclasses
import importlib.util
import inspect
import json
import sys

import torchx.specs as specs


def main():
    loader = importlib.util.spec_from_file_location("component", sys.argv[1])
    module = importlib.util.module_from_spec(loader)
    loader.loader.exec_module(module)
    apps = {}
    for name, fn in inspect.getmembers(module, inspect.isfunction):
        if name.startswith("_") or fn.__module__ != "component" or fn.__annotations__.get("return") not in (specs.AppDef, "AppDef", "specs.AppDef"):
            continue
        try:
            apps[name] = {"app": dataclasses.asdict(fn())}
        except Exception as e:
            apps[name] = {"error": f"{type(e).__name__}: {e}"}
    json.dump(apps, sys.stdout)


main()
