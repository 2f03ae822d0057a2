"""Starts from what dist.ddp gives."""
from typing import Dict, List, Optional

import torchx.components.dist as dist
import torchx.specs as specs
from torchx.components.dist import ddp as dist_ddp


def with_env(script: str = "main.py", key: str = "K", j: str = "1x2") -> specs.AppDef:
    """Adds variables.

    Args:
        script: script
        key: name of a variable
        j: shape
    """
    app = dist.ddp(script=script, j=j)
    app.roles[0].env["FIXED"] = "1"
    app.roles[0].env[key] = "v"
    app.roles[0].env.update({"MORE": key, "FIXED": "2"})
    app.roles[0].args.append("tail")
    app.roles[0].args += ["more"]
    app.roles[0].num_replicas += 1
    app.roles[0].resource.gpu = 4
    app.roles[0].port_map["http"] = 80
    app.metadata["team"] = "x"
    app.name = f"my-{app.name}"
    return app


def through_a_variable(*script_args: str, script: str = "a/b.py", env: Optional[Dict[str, str]] = None) -> specs.AppDef:
    """Changes the role by a name of its own.

    Args:
        script_args: arguments
        script: script
        env: variables
    """
    app = dist_ddp(*script_args, script=script, env=env or {})
    role = app.roles[0]
    role.name = "training"
    role.entrypoint = f"mount.sh && {role.entrypoint}"
    role.image = ";".join([role.image, "other:stable"])
    for i in range(1, 3):
        role.port_map[f"phase_{i + 1}"] = 29500 + i
    result = specs.AppDef(name=app.name + "-2", roles=[role], metadata=app.metadata)
    role.env["LATE"] = "1"
    role.args = ["--first"] + role.args
    return result


def all_roles(tag: str = "a") -> specs.AppDef:
    """Changes each role.

    Args:
        tag: tag
    """
    app = dist.ddp(script="x.py", m=None)
    app.roles.append(specs.Role(name="side", image="s", entrypoint="sleep", args=["1"]))
    for role in app.roles:
        role.env["TAG"] = tag
        if role.name == "side":
            role.metadata["side"] = {"car": True}
    for i, role in enumerate(app.roles):
        role.name = f"{role.name}-{i}"
    env = app.roles[1].env
    env["DIRECT"] = "yes"
    del app.roles[0].env["LOGLEVEL"]
    app.roles[1].env.pop("NONE", None)
    return app


def _quiet(role: specs.Role, level: str = "ERROR") -> None:
    role.env["LOGLEVEL"] = level
    role.max_retries = 2


def _named(app: specs.AppDef, name: str) -> specs.AppDef:
    app.name = name
    return app


def by_functions(name: str = "n") -> specs.AppDef:
    """Functions change the app.

    Args:
        name: name
    """
    app = dist.ddp(script="x.py")
    _quiet(app.roles[0])
    app = _named(app, name)
    _quiet(app.roles[0], level="INFO")
    return _named(app, app.name + "!")
