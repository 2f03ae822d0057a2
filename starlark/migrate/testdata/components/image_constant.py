# SPDX-License-Identifier: BSD-3-Clause
"""Components of the data team.

They use the default image.
"""
import torchx
import torchx.specs as specs


def echo_twice(msg: str = "hi", image: str = torchx.IMAGE, num_replicas: int = 1) -> specs.AppDef:
    """
    Prints a message two times

    Args:
        msg: message to print
        image: image to use
        num_replicas: number of replicas to run
    """
    echo = specs.Role(
        name="echo",
        image=image,
        entrypoint="/bin/echo",
        args=[msg, msg],
        num_replicas=num_replicas,
        resource=specs.Resource(cpu=1, gpu=0, memMB=1024),
    )
    return specs.AppDef(name="echo", roles=[echo])


def serve(model_path: str, management_api: str, port: int = 8080, timeout: float = 60 * 60, params: "dict[str, object] | None" = None, dryrun: bool = False) -> specs.AppDef:
    """Deploys a model

    Args:
        model_path: fsspec path of the model
        management_api: address of the server
        port: port
        timeout: seconds to wait
        params: further parameters
        dryrun: do nothing
    """
    serve = ["-m", "serve", "--model_path", model_path, "--management_api", management_api, "--timeout", str(timeout)]
    if params is not None:
        for param, value in params.items():
            serve += [f"--{param}", str(value)]
    if dryrun:
        serve.append("--dryrun")
    return specs.AppDef(
        name="serve",
        roles=[specs.Role(name="worker", image=torchx.IMAGE, entrypoint="python", args=serve, port_map={"model-download": 8222, "http": port})],
    )
