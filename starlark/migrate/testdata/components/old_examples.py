"""
Trainer components
==================
"""

# Importing torchx api specifications

from typing import Dict, List, Optional

import torchx
import torchx.specs as specs
from torchx.specs import Resource, macros, named_resources


def trainer(
    output_path: Optional[str] = None,
    image: str = torchx.IMAGE,
    data_path: Optional[str] = None,
    load_path: str = "",
    log_path: str = "/tmp/logs",
    resource: Optional[str] = None,
    env: Optional[Dict[str, str]] = None,
    skip_export: bool = False,
    epochs: int = 1,
    layers: Optional[List[int]] = None,
    learning_rate: Optional[float] = None,
) -> specs.AppDef:
    """Runs the example app.

    Args:
        output_path: output path for model checkpoints (e.g. file:///foo/bar)
        image: image to run (e.g. foobar:latest)
        layers: the number of layers
    """
    env = env or {}
    args = [
        "-m",
        "apps.train",
        "--load_path",
        load_path,
        "--log_path",
        log_path,
        "--epochs",
        str(epochs),
    ]
    if output_path:
        args += ["--output_path", output_path]
    if layers:
        args += ["--layers"] + [str(layer) for layer in layers]
    if learning_rate:
        args += ["--lr", str(learning_rate)]
    if data_path:
        args += ["--data_path", data_path]
    if skip_export:
        args.append("--skip_export")
    return specs.AppDef(
        name="cv-trainer",
        roles=[
            specs.Role(
                name="worker",
                entrypoint="python",
                args=args,
                env=env,
                image=image,
                resource=named_resources[resource]
                if resource
                else specs.Resource(cpu=1, gpu=0, memMB=4000),
            )
        ],
    )


def trainer_dist(
    image: str,
    script: str,
    j: str = "1x2",
    name: str = "",
    h: str = "gpu.small",
    rdzv_endpoint: str = "etcd-server:2379",
    *script_args: str,
) -> specs.AppDef:
    from pathlib import Path

    rep = j.split("x")
    if len(rep) == 1:  # num replicas only
        nnodes = 1
        nproc_per_node = int(rep[0])
    elif len(rep) == 2:
        nnodes = int(rep[0])
        nproc_per_node = int(rep[1])
    else:
        raise ValueError(f"Invalid format for -j, usage example: 1x4. Given: {j}")

    script_name_noext = Path(script).stem  # script name no extension
    return specs.AppDef(
        name=name or script_name_noext,
        roles=[
            specs.Role(
                name=script_name_noext,
                image=image,
                entrypoint="python",
                num_replicas=nnodes,
                resource=specs.named_resources[h],
                args=[
                    "-m",
                    "torch.distributed.run",
                    "--rdzv_backend",
                    ("c10d" if nnodes == 1 else "etcd"),
                    "--rdzv_endpoint",
                    ("localhost:29500" if nnodes == 1 else rdzv_endpoint),
                    "--rdzv_id",
                    f"{macros.app_id}",
                    "--nnodes",
                    str(nnodes),
                    "--nproc_per_node",
                    str(nproc_per_node),
                    script,
                    *script_args,
                ],
            )
        ],
    )
