from typing import Any, Dict, List, Optional
import inspect
import os

import torchx
import torchx.components.dist
import torchx.specs
from torchx.components.dist import ddp as ddp_component

DEFAULTS: Dict[str, Any] = dict(
    image=os.environ.get("TRAIN_IMAGE", torchx.IMAGE),
    gpu=4,
    cpu=16,
    memMB=64_000,
)


def _clean_env(env: Optional[Dict[str, Any]]) -> Dict[str, str]:
    if not env:
        return {}
    return {str(k): str(v) if not isinstance(v, bool) else ("1" if v else "0") for k, v in env.items() if v is not None}


def ddp(*script_args: str, script: str = "main.py", nnodes: int = 1, nproc: int = 4, env: Optional[Dict[str, str]] = None, name: Optional[str] = None, debug: bool = False) -> torchx.specs.AppDef:
    """ddp with the defaults of the team.

    Args:
        script_args: of the script
        script: script
        nnodes: nodes
        nproc: processes
        env: variables
        name: name
        debug: debug
    """
    merged = _clean_env({"OMP_NUM_THREADS": DEFAULTS["cpu"] // nproc, "NCCL_ASYNC_ERROR_HANDLING": True, "EMPTY": None})
    merged.update(env or {})
    kwargs = {**DEFAULTS, "env": merged, "j": f"{nnodes}x{nproc}", "debug": debug}
    if name:
        kwargs["name"] = name if "/" in name else f"{name}/run"
    return torchx.components.dist.ddp(*script_args, script=script, **kwargs)


def ddp_small(*script_args: str, script: str = "main.py") -> torchx.specs.AppDef:
    """One process."""
    opts = DEFAULTS.copy()
    opts.update({"gpu": 0, "cpu": 2})
    opts.pop("memMB")
    return ddp_component(*script_args, script=script, j="1x1", **opts)
