import json
import shlex
from collections import Counter
from typing import Any, Dict, List

import torchx.specs as specs

TEMPLATE = "{python} -m {module} --name={name:>8} --lr={lr:.2e} --n={n:,}"
LINES = """
export A=1
export B=2
"""
BASH = r"""
for i in $(seq {count}); do
  echo "run $i of {count}"
done
"""


def _merge(base: Dict[str, Any], *others: Dict[str, Any]) -> Dict[str, Any]:
    out = dict(base)
    for o in others:
        out = {**out, **o}
    return out


def report(module: str = "pkg.main", lr: float = 3e-4, n: int = 12345, names: str = "b,a,b", verbose: bool = False) -> specs.AppDef:
    """Formats many texts.

    Args:
        module: a module
        lr: rate
        n: number
        names: list
        verbose: more
    """
    items = [s.strip() for s in names.split(",")]
    counts = Counter(items)
    command = TEMPLATE.format(python="python3", module=module, name=items[0], lr=lr, n=n)
    config = {"lr": lr, "n": n, "nested": {"items": items, "none": None, "flag": verbose}}
    groups: Dict[str, List[int]] = {}
    for i, item in enumerate(items):
        groups.setdefault(item, []).append(i)
    env = {
        "CONFIG": json.dumps(config, sort_keys=True),
        "PRETTY": json.dumps({"a": [1, 2]}, indent=2),
        "COMPACT": json.dumps(config, separators=(",", ":")),
        "COUNTS": ",".join(f"{k}={v}" for k, v in sorted(counts.items())),
        "GROUPS": str(groups),
        "FIRST": "%-6s|%05d|%.3f" % (items[0], n, lr),
        "PAD": str(n).zfill(8) + "-" + items[-1].ljust(4, "."),
        "TITLE": module.replace(".", " ").title(),
        "TUPLE": f"{(1, 'a', 2.0)} {[None, True]} {lr!r} {n:>10} {n / 7:.2f} {n // 7} {-n % 7} {n:x} {items!r}",
        "LAST": names.rsplit(",", 1)[-1],
        "ZIP": ";".join(a + b for a, b in zip(items, reversed(items))),
        "MAP": " ".join(map(str, sorted({len(i) for i in items}))),
        "JOIN": shlex.join(["echo", "a b", *items]),
        "CASE": module.upper() if verbose else module.capitalize(),
        "SWAP": "yes" if "pkg" in module and not module.endswith(".py") else "no",
        "ROUND": str(round(lr * 1000)) + str(int(lr * 10)) + str(abs(-n)) + str(min(3, n)) + str(float(n)) + str(1e20) + str(lr),
        "BOOL": str(verbose).lower() + str(bool(items)) + str(all(items)) + str(any(i == "zz" for i in items)),
    }
    script = LINES.strip() + "\n" + BASH.replace("{count}", str(len(items))) + "\n" + command
    quoted = "'" + script.replace("'", "'\\''") + "'"
    return specs.AppDef(name="report", roles=[specs.Role(name="r", image="", entrypoint="bash", args=["-c", script, quoted], env=env)])
