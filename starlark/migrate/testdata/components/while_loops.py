import torchx.specs as specs
from typing import Optional


def _pow2(n: int) -> int:
    p = 1
    while p * 2 <= n:
        p *= 2
    return p


def _fmt(mb: int) -> str:
    units = ["MB", "GB", "TB"]
    i = 0
    size = float(mb)
    while size >= 1024 and i < len(units) - 1:
        size /= 1024
        i += 1
    return f"{size:.1f}{units[i]}"


def _parse(text: str) -> dict:
    out = {}
    rest = text
    while rest:
        head, _, rest = rest.partition(",")
        if "=" not in head:
            continue
        k, v = head.split("=", 1)
        out[k] = int(v) if v.isdigit() else v
    return out


def mesh(gpus: int = 12, mem: int = 300_000, options: str = "a=1,b=x,skip,c=03", name: Optional[str] = None) -> specs.AppDef:
    """Computes a mesh.

    Args:
        gpus: how many
        mem: in MB
        options: pairs
        name: of the app
    """
    parsed = _parse(options)
    tp = _pow2(min(gpus, 8))
    dp, rest = divmod(gpus, tp)
    if rest and (spare := rest * 2) > 3:
        parsed["spare"] = spare
    try:
        level = int(parsed["c"])
    except (KeyError, ValueError):
        level = 0
    try:
        port = int(options)
    except ValueError:
        port = 1234
    label = name if name else f"mesh-{tp}x{dp}"
    return specs.AppDef(
        name=label.replace("/", "-").replace(".", "-"),
        roles=[specs.Role(name="m", image="", entrypoint="mesh", args=[f"--tp={tp}", f"--dp={dp}", f"--mem={_fmt(mem)}", f"--level={level}", f"--port={port}"],
                          env={k: str(v) for k, v in parsed.items()})],
    )
