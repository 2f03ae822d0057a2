"""Wrappers around the built-in components."""
import copy
import functools
import os
from typing import Callable, Dict, List

import torchx.components.dist as dist
import torchx.components.utils as utils
import torchx.specs as specs
from torchx.specs import BindMount, DeviceMount


def _with_mounts(app: specs.AppDef, paths: List[str]) -> specs.AppDef:
    for role in app.roles:
        for p in paths:
            role.mounts.append(BindMount(src_path=p, dst_path=p, read_only=True))
        role.mounts += [DeviceMount("/dev/fuse", "/dev/fuse")]
    return app


def _tag(app: specs.AppDef, **tags: str) -> specs.AppDef:
    for k, v in tags.items():
        app.metadata[k] = v
    return app


def _add_env(role: specs.Role, env: Dict[str, str]) -> None:
    for k, v in env.items():
        role.env.setdefault(k, v)


def finetune(*args: str, script: str = "finetune.py", nodes: int = 1, base: str = "llama", data: str = "/data") -> specs.AppDef:
    """Finetunes.

    Args:
        args: of the script
        nodes: how many
    """
    app = dist.ddp(*args, script=script, j=f"{nodes}x8", gpu=8, h=None, name=f"ft/{base}")
    role = app.roles[0]
    role.name = "finetune"
    role.env["BASE"] = base
    role.env.update({"NCCL_DEBUG": "WARN", "HOME_DIR": os.path.expanduser("~")})
    role.resource.capabilities["gpu-type"] = "h100"
    role.resource.memMB = 500_000
    if nodes > 1:
        role.max_retries = 3
        role.retry_policy = specs.RetryPolicy.APPLICATION
    _add_env(role, {"BASE": "ignored", "EXTRA": "1"})
    app = _with_mounts(app, [data, "/scratch"])
    return _tag(app, owner="ml", base=base)


def side(msg: str = "hi") -> specs.AppDef:
    """Two apps in one."""
    app = utils.echo(msg=msg, image="busybox")
    other = utils.sh("sleep", "1", image="busybox")
    app.roles.extend(other.roles)
    app.roles[1].name = "sleeper"
    app.name = "both"
    monitor = copy.deepcopy(app.roles[0])
    monitor.name = "monitor"
    monitor.args = ["tail", "-f", "/dev/null"]
    app.roles.insert(0, monitor)
    return app
