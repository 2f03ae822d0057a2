from typing import Dict, Optional, Any
import os.path as osp

import torchx
import torchx.specs as specs
from torchx.specs.api import NULL_RESOURCE


def _maybe(flag: str, value: Any) -> list:
    return [flag, str(value)] if value not in (None, "", False) else []


def torchserve(
    model_path: str,
    management_api: str,
    image: str = torchx.IMAGE,
    params: Optional[Dict[str, str]] = None,
    dryrun: bool = False,
    port: Optional[int] = None,
) -> specs.AppDef:
    """Deploys a model.

    Args:
        model_path: path of the model
        management_api: address
        params: more
    """
    args = [
        "-m",
        "torchx.apps.serve.serve",
        "--model_path",
        model_path,
        "--management_api",
        management_api,
    ]
    if params is not None:
        for param, value in params.items():
            args += [f"--{param}", str(value)]
    args += _maybe("--port", port)
    if dryrun:
        args += [
            "--dryrun"
        ]
    base, ext = osp.splitext(osp.basename(model_path))
    return specs.AppDef(
        name="torchx-serve-torchserve",
        roles=[
            specs.Role(
                name="torchx-serve-torchserve",
                image=image,
                entrypoint="python3",
                args=args,
                env={"BASE": base, "EXT": ext[1:], "N": repr(base)},
                port_map={"model-download": 8222},
                resource=NULL_RESOURCE if not dryrun else specs.resource(cpu=1),
            ),
        ],
    )
