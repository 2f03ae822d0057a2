"""run.py FILE: prints, for each component of FILE, the apps it gives, as JSON: without arguments, or
with those that it needs, with all of them, and with every second one.
"""
import copy
import dataclasses
import enum
import importlib.util
import inspect
import json
import os
import sys
import types
import typing

import torchx.specs as specs

SAMPLES = {str: "pkg/other-1.py", int: 3, float: 2.5, list: ["a b", "c"], dict: {"KEY": "v", "OTHER": "w=1"}}
NAMED = {"h": "gpu.medium", "host": "gpu.medium", "resource": "cpu.medium", "j": "2x4", "mounts": ["type=bind", "src=/a", "dst=/b", "readonly"]}
WORDS = {"m": "pkg.mod", "preset": "tiny", "cacheset": "c_1", "version": "v12.3", "memory": "512MB", "cloud": "gke", "config": '{"name": "b"}', "module": "pkg.mod", "meshes": ["a:2:gpu.small", "b:1:cpu.small"], "mode": "train", "script": "pkg/other-1.py"}


def sample(p):
    """A value for a parameter, other than its default."""
    t = p.annotation
    if typing.get_origin(t) is typing.Annotated or typing.get_origin(t) in (typing.Union, getattr(types, "UnionType", None)):
        t = typing.get_args(t)[0]
    if typing.get_origin(t) is typing.Literal:
        return typing.get_args(t)[-1]
    if isinstance(t, type) and issubclass(t, enum.Enum):
        return list(t)[-1]
    if p.name in NAMED or p.name in WORDS:
        return {**NAMED, **WORDS}[p.name]
    if t is bool:
        return not p.default if p.default is not p.empty else True
    if int in typing.get_args(t):
        return [1, 2] if typing.get_origin(t) is list else {"KEY": 7}
    return SAMPLES.get(typing.get_origin(t) or t, SAMPLES[str])


def argv(given):
    """The arguments as a command line has them."""
    out = []
    for name, value in given.items():
        value = getattr(value, "value", value)
        if isinstance(value, list):
            value = ",".join(map(str, value))
        elif isinstance(value, dict):
            value = ",".join(f"{k}='{v}'" for k, v in value.items())
        elif isinstance(value, bool):
            value = str(value).lower()
        out.append(f"--{name}={value}")
    return out


def run(fn, given, rest):
    out = {"argv": argv(given) + (["--"] + rest if rest else [])}
    params = inspect.signature(fn).parameters.values()
    given = {name: copy.copy(value) for name, value in given.items()}
    try:
        positional = [given.get(p.name, p.default) for p in params if p.kind is p.POSITIONAL_OR_KEYWORD]
        named = {p.name: given[p.name] for p in params if p.kind is p.KEYWORD_ONLY and p.name in given}
        out["app"] = dataclasses.asdict(fn(*positional, *rest, **named))
    except (Exception, SystemExit) as e:
        out["error"] = f"{type(e).__name__}: {e}"
    return out


def resolved(fn):
    """The parameters of a function, with annotations that were texts."""
    try:
        hints = typing.get_type_hints(fn)
    except Exception:
        hints = {}
    return [p.replace(annotation=hints.get(p.name, p.annotation)) for p in inspect.signature(fn).parameters.values()]


def main():
    sys.path.insert(1, os.path.dirname(sys.argv[1]))
    result, sys.stdout = sys.stdout, sys.stderr  # what components print is not compared
    loader = importlib.util.spec_from_file_location("component", sys.argv[1])
    module = importlib.util.module_from_spec(loader)
    sys.modules["component"] = module
    loader.loader.exec_module(module)
    apps = {}
    for name, fn in inspect.getmembers(module, inspect.isfunction):
        if name.startswith("_") or fn.__module__ != "component" or not str(fn.__annotations__.get("return")).endswith(("AppDef", "AppDef'>")):
            continue
        params = [p for p in resolved(fn) if p.kind is not p.VAR_POSITIONAL]
        rest = ["x y", "--z=1"] if len(params) < len(inspect.signature(fn).parameters) else []
        some = {p.name: sample(p) for p in params if p.default is p.empty}
        every = {p.name: sample(p) for p in params}
        second = {**some, **{p.name: sample(p) for p in params[1::2]}}
        apps[name] = [run(fn, some, []), run(fn, every, rest), run(fn, second, [])]
        if "script" in every and "m" in every:
            apps[name] += [run(fn, {k: v for k, v in every.items() if k != drop}, rest) for drop in ("script", "m")]
    json.dump(apps, result)


main()
