"""Statements and expressions."""
from __future__ import annotations

import os
from dataclasses import replace
from enum import Enum
from os import environ
from pathlib import Path
from typing import Dict, List, Optional, Tuple, TYPE_CHECKING, Union

import torchx.specs as specs
from torchx.specs import AppDef, macros, overlays, Role
from torchx.version import TORCHX_IMAGE

if TYPE_CHECKING:
    import nothing_that_exists

__all__ = ["control"]

BASE: Dict[str, str] = {"A": "1"}
SIZES = (1, 2, 3)
MB = 1024 * 2 ** 10


class Mode(Enum):
    """How."""

    FAST = "fast"
    SLOW = 2


def _role(name: str, *args: str, **fields: object) -> Role:
    return Role(name=name, image=TORCHX_IMAGE, entrypoint="run", args=list(args), **fields)


def control(n: int = 5, *, flag: bool = False, items: Optional[List[int]] = None) -> AppDef:
    """Control flow"""
    out = []
    for i, (a, b) in enumerate(zip(range(n), "vwxyz"), start=1):
        if a == 1:
            continue
        elif a == 3 and not flag:
            out.append("three")
        elif a > 3:
            break
        else:
            out += [f"{i}{a}{b}"]
    total = 0
    for k in (items or [1, 2]):
        total += k
        total *= 2
    x, y = 1, 2
    x, y = y, x
    if not out:
        raise ValueError("empty")
    assert n > 0, f"bad {n}"
    a = b = str(total)
    out.extend([a, b, str(x), str(y), str(1 < x <= 2 < 5), "yes" if flag else "no", str(x if y else None)])
    out.extend(str(v) for v in sorted([3, 1, 2], key=lambda v: -v))
    out.append(str(sum([1, 2]) + sum(i for i in range(3))))
    out.append(str(max(1, 2)) + str(min([4, 3])) + str(abs(-1)) + str(any([0, 1])) + str(all([])) + str(bool("")) + str(int("7")) + str(float("1.5")))
    out += [str(-7 // 2), str(-7 % 3), str(7 / 2), str(6 / 2), str(2 ** 8), str(5 & 3 | 8), str(1 << 4), str(~5)]
    return AppDef("control", [_role("r", *out, num_replicas=n)])


def dicts(env: Optional[Dict[str, str]] = None) -> AppDef:
    """Dicts"""
    e = {**BASE, **(env or {}), "B": "2"}
    e.setdefault("C", "3")
    e.update({"D": "4"})
    e.update(E="5")
    del e["A"]
    inverse = {v: k for k, v in e.items() if k != "D"}
    copy = e.copy()
    copy["F"] = copy.pop("B")
    only = {**BASE}
    only["Z"] = str(len(e)) + str("C" in e) + str(e.get("nope")) + e.get("nope", "d") + ",".join(e) + ",".join(list(e.values()))
    return AppDef("dicts", [_role("r", env=e), _role("s", env={**inverse, **only}), _role("t", env=copy)])


def changed(debug: bool = True) -> AppDef:
    """Roles that are changed after they were made"""
    role = Role(name="r", image="i")
    role.args = ["a"]
    role.args.append("b")
    role.args += ["c"]
    role.args.extend(x for x in ["d"])
    role.env["K"] = "v"
    role.env.update({"L": "w"})
    role.num_replicas += 2
    if debug:
        role.metadata["m"] = {"x": [1, 2.5, None, (1, 2)]}
        role.mounts.append(specs.BindMount("/a", "/b", read_only=True))
    roles = []
    for i in range(2):
        r = replace(role, name=f"r{i}")
        roles.append(r)
    app = AppDef(name="changed", roles=roles)
    app.metadata["n"] = str(len(app.roles))
    return app


def modules(path: str = "/data//x", script: str = "a/b/train.v1.py") -> AppDef:
    """os, pathlib, environment"""
    return AppDef("modules", [_role(
        "r", os.path.join(path, "y", "z"), os.path.basename(script), os.path.dirname(script), os.path.splitext(script)[1], Path(script).stem, Path(script).suffix,
        os.path.normpath(path), os.environ.get("TORCHX_NOT_SET", "default"), os.getenv("TORCHX_NOT_SET") or "none", str("TORCHX_NOT_SET" in os.environ),
        environ.get("TORCHX_SET", "unset"), os.environ["TORCHX_SET"], str(MB), str(SIZES[1:]),
    )])


def needs_env() -> AppDef:
    """A variable that is not there"""
    return AppDef(os.environ["TORCHX_NOT_SET"])


def enums(fast: bool = True) -> AppDef:
    """Enums, policies, macros, resources"""
    mode = Mode.FAST if fast else Mode.SLOW
    policy = specs.RetryPolicy.REPLICA if mode == Mode.FAST else specs.RetryPolicy("ROLE")
    R = specs.Resource(cpu=1.5, gpu=0, memMB=MB, capabilities={"a": 1})
    role = _role(str(mode.value), mode.name, macros.app_id, f"{specs.macros.replica_id}", retry_policy=policy, resource=specs.Resource.copy(R, b=True))
    other = _role("h", str(Mode.SLOW.value), resource=specs.resource(h="gpu.small"), port_map={"c": 29_500})
    third = _role("d", resource=specs.resource(cpu=0, memMB=None), metadata={"kubernetes": {"spec": {overlays.PUT("volumes"): [], overlays.JOIN("c", on="name"): [{"name": "a"}], overlays.DEL("x"): None}}})
    return AppDef(name="enums", roles=[role, other, third])


def types_of(v: Union[str, None] = None, w: str | None = "x", k: list[int] | None = None) -> AppDef:
    """isinstance, is None"""
    values = [1, "a", 1.5, None, [1], {"a": 1}, True, (1,)]
    return AppDef("types", [_role("r", *[
        str(isinstance(x, str)) + str(isinstance(x, (list, dict))) + str(isinstance(x, int)) + str(x is None) + str(x is not None) for x in values
    ], *[str(t) for t in (v is None, w is not None, not k)], *map(str, SIZES), *list(filter(None, ["", "f"])))])


def nested(n: int = 2) -> AppDef:
    """Functions in functions, tuples"""
    def times(x: int, by: int = n) -> int:
        return x * by

    def pair(x: int) -> Tuple[int, str]:
        # a comment within
        return x, str(x)

    first, second = pair(times(3))
    matrix = [[i * j for j in range(2)] for i in range(2)]
    flat = [x for row in matrix for x in row if x >= 0]
    return AppDef("nested", [_role("r", str(first), second, str(flat), str(matrix), str(matrix[1][1]), str([*flat, 9]), str((0, *flat)), str(set([1]) == {1}))])


def fails(a: int = -1) -> AppDef:
    """Fails"""
    if a < 0:
        raise ValueError(f"a must not be negative, is {a}")
    return AppDef("x")


def asserts(a: int = 0) -> AppDef:
    """Asserts"""
    assert a
    return AppDef("x")


if __name__ == "__main__":
    print(control())
