"""What is in lists and dicts when their items are written as text: Python and Starlark write floats otherwise."""
from typing import Dict, List, Optional

import torchx.specs as specs

CHANGED = {"A": "b"}
CHANGED["LR"] = 1e6
HELD = {"k": CHANGED}


def _app(*texts: str) -> specs.AppDef:
    return specs.AppDef("types", [specs.Role(name="r", image="i", args=list(texts))])


def _append(to: List[str], value: object) -> None:
    to.append(value)


def _same(v) -> str:
    return v


def _text(v: str = None) -> str:
    return f"{v}"


def puts() -> specs.AppDef:
    """Into variables"""
    a = ["--a"]
    a.append(1e6)
    b = ["b"]
    b.insert(0, 1e6)
    c = ["c"]
    c.extend([1e6])
    d = ["d"]
    d[0] = 1e6
    e = {"e": "x"}
    e["f"] = 1e6
    f = {"f": "x"}
    f.update({"g": 1e6})
    g = {"g": "x"}
    g.update(h=1e6)
    h = {"h": "x"}
    h.setdefault("i", 1e6)
    i = {"i": 1}
    i["i"] += 1e6
    j = ["j"]
    j += [1e6]
    k = dict(zip(["k"], [1e6]))
    k["l"] = "x"
    lists = [f"{v}" for x in [a, b, c, d, j] for v in x]
    dicts = [f"{n}={v}" for x in [e, f, g, h, i, k] for n, v in x.items()]
    return _app(*lists, *dicts, *[f"{v}" for v in a], *["%s %s" % (v, 1) for v in d], *[str(v) for v in h.values()], f"{i['i']}")


def reaches(items: Optional[List[str]] = None) -> specs.AppDef:
    """By other names"""
    a = ["a"]
    other = a
    other.append(1e6)
    b = ["b"]
    _append(b, 1e6)
    c = [["c"]]
    for row in c:
        row.append(1e6)
    d = {"d": ["x"]}
    d["d"].append(1e6)
    e = [["e"]]
    first = e[0]
    first.append(1e6)
    f = ["f"]

    def add(v):
        f.append(v)

    add(1e6)
    g = items or ["g"]
    g.append(1e6)
    h = {}
    h.setdefault("h", []).append(1e6)
    return _app(
        *[f"{v}" for v in a], *[f"{v}" for v in b], *[f"{v}" for r in c for v in r], *[f"{v}" for v in d["d"]], *[f"{v}" for v in e[0]],
        *[f"{v}" for v in f], *[f"{v}" for v in g], *[f"{v}" for r in h.values() for v in r],
        *[f"{k}{v}" for k, v in CHANGED.items()], *[f"{v}" for v in HELD["k"].values()],
    )


def passes(n: int = 3, s: str = "ab") -> specs.AppDef:
    """Through variables and functions"""
    a = 1e6
    b = a
    c = b
    d = c
    e = d
    late = None
    out = []
    for _ in range(2):
        out.append(f"{late}")
        late = 1e6
    out += (1, 2)
    out += s
    return _app(
        *[str(o) for o in out], f"{e}", f"{max(1, 2e6)}", f"{sum([1, 2], 0.5)}", f"{_same(1e6)}", _text(), _text(None), _text(s), f"{True:5}|{False:<3}|{n > 1!r:6}|",
        str(list(enumerate(s, 1))), *sorted({"b", "a"}), *sorted(v.upper() for v in {"y", "x"}), str(len({1, 2})), str(max({1, 2} - {2})),
    )
