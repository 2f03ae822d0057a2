import os
from typing import Any, Dict, List, Optional

from torchx import specs
from torchx.components import dist
from torchx.specs import AppDef, Resource, Role


def shares(n: int = 4, mem: float = 1.5, scale: float = 0.5) -> AppDef:
    """Numbers

    Args:
        n: nodes
        mem: GB
        scale: factor
    """
    world = n**2
    args = [str(world), str(n / 2), str(2**n), f"{scale ** 2:.4f}", f"{n / 3:.3f}", str(-n % 3), str(round(2.5)), str(round(3.5)), str(round(-0.5)), str(round(2.6 * n))]
    args += [str(min(n, 8)), str(divide(7, n)), str(bool(n) + 1), str(True + True), str(-True), f"{n:,}", f"{n:02d}", str(n == 3.0)]
    return AppDef("shares", [Role("r", "i", args=args, resource=Resource(cpu=1, gpu=0, memMB=round(mem * 1024)))])


def divide(a: int, b: int) -> float:
    return a / b


def stages(steps: int = 3, base: str = "s3://b/", x: Any = None, opts: Optional[Dict[str, int]] = None) -> AppDef:
    """Roles in a loop

    Args:
        steps: steps
        base: base
        x: anything
        opts: options
    """
    roles: List[Role] = []
    for step in ("prep", "train", "eval"):
        role = Role(name=step, image="i", args=["--step", step])
        if step == "train":
            role.num_replicas = steps
            role.args += ["--distributed"]
            role.env["STEP"] = step
        roles.append(role)
    roles[0].metadata["first"] = "1"
    for r in roles:
        r.env.setdefault("BASE", base)
    for k, v in (opts or {"z": 0}).items():
        roles[-1].args.extend([f"--{k}", f"{v}"])
    return AppDef("a", roles=roles)


def only(script: str = "x.py", x: Optional[float] = None) -> AppDef:
    """The only role

    Args:
        script: script
        x: x
    """
    app = dist.ddp(script=script, env={"A": "1"})
    [role] = app.roles
    role.args[-1] = role.args[-1] + " extra"
    for name, value in {"script": script, "x": x}.items():
        if value is not None:
            role.args += [f"--{name}", str(value)]
    return app
