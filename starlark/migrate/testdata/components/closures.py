import functools
import logging
import operator
import os
from typing import Callable, Dict, List, Optional, Tuple

from torchx import specs
from torchx.specs import AppDef, Role

logger = logging.getLogger(__name__)

Launcher = Callable[[str, int], List[str]]


def _python(script: str, n: int) -> List[str]:
    return ["python", script]


def _torchrun(script: str, n: int) -> List[str]:
    return ["torchrun", "--nproc_per_node", str(n), script]


LAUNCHERS: Dict[str, Launcher] = {"python": _python, "torchrun": _torchrun, "accelerate": lambda script, n: ["accelerate", "launch", f"--num_processes={n}", script]}
SIZES: List[Tuple[str, int]] = [("small", 1), ("medium", 4), ("large", 8)]


@functools.lru_cache(maxsize=None)
def _gpus(size: str) -> int:
    for name, gpus in SIZES:
        if name == size:
            return gpus
    else:
        raise KeyError(size)


def run(script: str, launcher: str = "torchrun", size: str = "medium", tags: Optional[List[str]] = None, debug: bool = False) -> AppDef:
    """Runs a script.

    Args:
        script: the script
        launcher: python, torchrun or accelerate
        size: small, medium or large
        tags: labels
        debug: wait for a debugger
    """
    gpus = dict(SIZES).get(size, 2)
    launch = LAUNCHERS.get(launcher, _python)

    def with_env(role: Role, **env: str) -> Role:
        role.env.update(env)
        return role

    def tagged(name: str) -> str:
        return "-".join([name] + sorted(tags or [], key=lambda t: (-len(t), t)))

    cmd = launch(script, gpus)
    if debug:
        cmd = ["python", "-m", "debugpy", "--wait-for-client"] + cmd[1:] if cmd[0] == "python" else cmd
    total = functools.reduce(operator.add, [g for _, g in SIZES], 0)
    logger.info("launching %s with %d gpus", script, gpus)
    role = with_env(
        Role(name="main", image=os.getenv("IMAGE", "train"), entrypoint=cmd[0], args=cmd[1:]),
        TOTAL=str(total), DEBUG="1" if debug else "0",
    )
    return AppDef(name=tagged("run"), roles=[role])
