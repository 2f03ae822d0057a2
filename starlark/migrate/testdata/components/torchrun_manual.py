#!/usr/bin/env python3
import os
from typing import Dict, List, Optional

import torchx
import torchx.specs as specs
from torchx.components.dist import parse_nnodes

NCCL = {
    'NCCL_DEBUG': 'INFO',
    'NCCL_SOCKET_IFNAME': 'eth0',
}


def torchrun(
    *script_args: str,
    script: Optional[str] = None,
    m: Optional[str] = None,
    no_python: bool = False,
    image: str = torchx.IMAGE,
    name: str = "/",
    h: Optional[str] = None,
    cpu: int = 2,
    gpu: int = 0,
    memMB: int = 1024,
    j: str = "1x2",
    env: Optional[Dict[str, str]] = None,
    max_retries: int = 0,
    rdzv_port: int = 49450,
    rdzv_backend: str = "c10d",
    rdzv_id: Optional[int] = None,
    mounts: Optional[List[str]] = None,
    debug: bool = False,
    use_env: bool = False,
) -> specs.AppDef:
    """
    Distributed data parallel application.

    Args:
        script_args: arguments to the main module
        script: script or binary to run within the image
        m: the python module path to run
        image: image (e.g. docker)
    """
    if (script is None) == (m is None):
        raise ValueError("exactly one of --script and -m must be specified")
    if debug:
        os_env = os.environ.get("TORCHX_SET") or "unset"
    else:
        os_env = ""
    # nnodes: number of nodes or minimum nodes for elastic launch
    min_nnodes, max_nnodes, nproc_per_node, nnodes_rep = parse_nnodes(j)

    if max_nnodes == 1:
        rdzv_endpoint = "localhost:0"
        num_nodes = nnodes_rep
        nproc = str(nproc_per_node)
        node_rank = "0"
    else:
        rdzv_endpoint = f"$${{{specs.macros.rank0_env}:=localhost}}:{rdzv_port}"
        num_nodes = "$$NUM_NODES" if use_env else nnodes_rep
        nproc = "$$NPROC" if use_env else str(nproc_per_node)
        node_rank = specs.macros.replica_id
    env = env or {}
    env = {**NCCL, **env}
    env.setdefault("LOGLEVEL", os.getenv("LOGLEVEL", "WARNING"))
    if os_env:
        env["OS"] = os_env

    cmd = [
        "--rdzv-backend", rdzv_backend,
        "--rdzv-endpoint", rdzv_endpoint,
        "--rdzv-id", f"{rdzv_id or 1234}",
        "--nnodes", num_nodes,
        "--nproc-per-node", nproc,
        "--node-rank", node_rank,
        "--tee", "3",
    ]
    if script is not None:
        if no_python:
            cmd += ["--no-python"]
        cmd += [script]
    elif m is not None:
        cmd += ["-m", m]
    cmd += script_args
    role_name = os.path.splitext(os.path.basename(script))[0] if script else m.rpartition(".")[2]
    app_name = name.split("/")[-1] or role_name
    return specs.AppDef(
        name=app_name,
        roles=[
            specs.Role(
                name=role_name,
                image=image,
                min_replicas=min_nnodes,
                entrypoint="torchrun",
                num_replicas=int(max_nnodes),
                resource=specs.resource(cpu=cpu, gpu=gpu, memMB=memMB, h=h),
                args=cmd,
                env=env,
                port_map={
                    "c10d": rdzv_port,
                },
                max_retries=max_retries,
                mounts=specs.parse_mounts(mounts) if mounts else [],
            )
        ],
    )
