import shlex
from typing import TYPE_CHECKING, Optional

import torchx
from torchx.components import dist as torchx_dist

if TYPE_CHECKING:
    import torchx.specs as specs
    from torchx.specs import AppDef


def supervised(
    *script_args: str,
    script: Optional[str] = "train.py",
    m: Optional[str] = None,
    image: str = torchx.IMAGE,
    name: str = "/",
    j: str = "1x2",
    env: Optional[dict[str, str]] = None,
    interval: Optional[float] = None,
    heartbeat: Optional[float] = None,
    signal: Optional[str] = None,
    max_restarts: Optional[int] = None,
    infra: bool = False,
) -> "AppDef":
    app = torchx_dist.ddp(*script_args, script=script, m=m, name=name, image="", j=j, env=env)

    ft_args = []

    if any(
        map(
            lambda arg: arg is not None,
            [
                interval,
                heartbeat,
                signal,
                max_restarts,
            ],
        )
    ):
        if interval:
            ft_args += [
                "--ft-interval",
                str(interval),
            ]

        if heartbeat:
            ft_args += ["--ft-heartbeat", str(heartbeat)]

        if signal:
            ft_args += ["--ft-signal", signal]

        if max_restarts:
            ft_args += ["--max-restarts", str(max_restarts)]

        if infra is True:
            ft_args += ["--ft-infra", "False"]

    else:
        ft_args = ["--ignore-missing-cfg"]

    ft_args = list(
        map(
            lambda arg: arg if isinstance(arg, torchx_dist._noquote) else shlex.quote(arg),
            ft_args,
        )
    )

    app.roles[0].entrypoint = "ft_launcher"
    app.roles[0].args = ft_args + app.roles[0].args  # type: ignore

    return app
