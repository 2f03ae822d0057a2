import shlex
from typing import Annotated, Literal, Optional

import torchx
import torchx.specs as specs
from torchx.components import dist as torchx_dist


# Wraps another launcher.
def ft_launcher(
    *script_args: str,
    script: Optional[str] = "train.py",
    m: Optional[str] = None,
    name: "Annotated[str, '-jn']" = "/",
    h: Optional[str] = None,
    j: str = "1x2",
    env: Optional[dict[str, str]] = None,
    mounts: Optional[list[str]] = None,
    debug: bool = False,
    mode: Literal["train", "eval"] = "eval",
    check_interval: Optional[float] = None,
    heartbeat_timeout: Optional[float] = None,
    log_level: str | None = None,
    max_restarts: Optional[int] = None,
) -> specs.AppDef:
    app = torchx_dist.ddp(
        *script_args,
        script=script,
        name=name,
        m=m,
        image="",
        h=h,
        j=j,
        env=env,
        mounts=mounts,
        debug=debug,
    )

    ft_args = []

    if any(
        map(
            lambda arg: arg is not None,
            [
                check_interval,
                heartbeat_timeout,
                log_level,
                max_restarts,
            ],
        )
    ):
        if check_interval:
            ft_args += [
                "--check_interval",
                str(check_interval),
            ]

        if heartbeat_timeout:
            ft_args += ["--heartbeat_timeout", f"{heartbeat_timeout:.1f}"]

        if log_level:
            ft_args += ["--log level", log_level]

        if max_restarts:
            ft_args += ["--max-restarts", str(max_restarts)]

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
    app.roles[0].metadata["mode"] = mode

    return app
