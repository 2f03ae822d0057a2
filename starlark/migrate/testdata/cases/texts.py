"""Texts, in every way that Python makes them."""
import json
import shlex
from typing import Dict, List, Optional

from torchx import specs


def fstrings(a: int = 3, x: float = 1.0, big: float = 1e20, s: str = "it's", b: bool = True, n: Optional[str] = None) -> specs.AppDef:
    """f-strings"""
    w = 8
    return _app(
        f"{a} {x} {big} {s} {b} {n}", f"{{}} {a}{{x}}", f"{a:03d}|{a:>5}|{a:<5}|{a:^5}|{a:+d}|{a:x}|{a:#x}|{a:b}",
        f"{x:.2f}|{x:8.3f}|{x:e}|{x:g}|{big:g}|{big:.3e}|{0.5:%}|{1234567.891:,.2f}|{12345678:,}|{-5:05d}|{2.5:06.1f}",
        f"{s!r} {s!s:>10} {a!r}", f"{a:{w}d}|{s:*^{w}}", f"{s:.2}", f"{b!r} {b:d}", f"{a}" f"{x}" "plain{}",
        f"{[a, x, s]} {(a,)} { {'k': n} } {[]}", f"{1e16} {1e15} {1e-5} {0.0001} {0.1 + 0.2} {1e6} {-0.0}",
    )


def percent(a: int = 7, x: float = 0.125) -> specs.AppDef:
    """Old formatting"""
    return _app(
        "%d %s %5d|%-5d|%05d|%+d %%" % (a, "x", a, a, a, a), "%.2f %8.3f %e %g" % (x, x, x, x), "%s" % a, "%x %X %o" % (255, 255, 8),
        "%r %s %10s|%-10s|" % ("q'", None, "right", "left"), "%s %s" % ([1, "a"], {"k": 1.0}), "100%% of %s" % "it",
    )


def format_method(a: int = 1, s: str = "z") -> specs.AppDef:
    """format()"""
    return _app(
        "{} {}".format(a, s), "{1} {0} {1}".format(a, s), "{name}-{0:03d}".format(a, name=s), "{{}} {!r}".format(s), "{:>6}|{:<6}|".format(s, a),
        "{}".format(1.5), "{}".format([1.5, "a"]), format(3.14159, ".2f"), format(a, "04d"),
    )


def reprs(d: Optional[Dict[str, int]] = None) -> specs.AppDef:
    """repr and str"""
    values = ["plain", "it's", 'say "x"', "both ' and \"", "tab\t nl\n \\ é \x00\x7f\u2028", 1, -1, 1.0, 1e100, 1e-7, True, None, [], (), {}, (1,), (1, 2), [None, "x"], {"a": [1.5]}]
    return _app(*[repr(v) for v in values], *[str(v) for v in values if v is not None], repr(d), str(values[0]), str())


def jsons() -> specs.AppDef:
    """json.dumps"""
    d = {"b": [1, 2.5, None, True, "é\"\n"], "a": {}, "c": []}
    return _app(json.dumps(d), json.dumps(d, indent=2), json.dumps(d, sort_keys=True, separators=(",", ":")), json.dumps("x"), json.dumps(json.loads("[1, {\"k\": 2.0}]")))


def strings(s: str = " Hello, World ") -> specs.AppDef:
    """String methods"""
    words = s.strip().lower().replace(",", "").split()
    return _app(
        *words, ",".join(words), "-".join(w.upper() for w in words), s.strip()[1:4], s.strip()[-1], s * 2, str(len(s)), str("World" in s),
        str(s.find("W")), s.partition(",")[2], s.rsplit(" ", 1)[0], "a b".title(), "x".join("abc"), str(s.startswith(" H")), shlex.quote(s),
        shlex.join(["a b", "c"]), *shlex.split("a 'b c'"), "prefix-x".removeprefix("prefix-"), "lines\nof\ntext".splitlines()[1], "".join(sorted("hello")),
        "".join(reversed("abc")), str(list("ab")), *[c for c in "xy"], """two
lines "quoted" \\ of text""",
    )


def _app(*texts: str) -> specs.AppDef:
    args: List[str] = list(texts)
    return specs.AppDef(name="texts", roles=[specs.Role(name="r", image="i", entrypoint="echo", args=args)])
