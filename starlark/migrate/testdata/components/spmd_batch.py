"""SPMD for our batch queue."""
import os
from getpass import getuser
from typing import Dict, List, Optional

from torchx import specs
from torchx.components.dist import _args_join, _noquote, _TORCH_DEBUG_FLAGS, get_role_name
from torchx.components.structured_arg import StructuredJArgument, StructuredNameArgument

MINUTES = 60
EFA_DEVICE = "vpc.amazonaws.com/efa"


class Containers:
    """Images of the registry."""

    REGION = "us-west-2"

    @property
    def registry(self) -> str:
        return f"1234.dkr.{self.REGION}.example.com"

    @property
    def training(self) -> str:
        return f"{self.registry}/train:2.0-py310"

    def tagged(self, tag: str = "latest") -> str:
        return self.registry + ":" + tag


def default_experiment_name() -> str:
    return f"default-experiment-{getuser()}"


def is_efa_enabled(resource: specs.Resource) -> bool:
    return EFA_DEVICE in resource.devices


def spmd(
    *args: str,
    script: Optional[str] = None,
    m: Optional[str] = None,
    image: Optional[str] = None,
    name: str = "/",
    h: str = "gpu.small",
    j: str = "1x1",
    env: Optional[Dict[str, str]] = None,
    max_retries: int = 0,
    mounts: Optional[List[str]] = None,
    local: bool = False,
    debug: bool = False,
) -> specs.AppDef:
    """
    Usage (by script): torchx run spmd -j 2x8 -h p4d.24xlarge --script trainer.py

    Args:
        args: the arguments to the main module or script (e.g. my/trainer.py -foo bar)
            (for docker based runs) relative to the WORKDIR of the image
        script:
        m: the main module name (e.g. my.module.trainer)
        image: the base docker image
        name: {experimentname}/{runname}
        h: the type of host
        j: {nnodes}x{nproc_per_node}
        env: environment variables
        max_retries: the number of scheduler retries allowed
        mounts: mounts
        local: several nodes on one host
        debug: whether to run with preset debug flags enabled

    """

    if image is None:
        image = Containers().training

    resource = specs.get_named_resources(h)

    if env is None:
        env = {}

    if is_efa_enabled(resource):
        env["NCCL_SOCKET_IFNAME"] = "eth,ens"

    structured_name = StructuredNameArgument.parse_from(
        name=name,
        m=m,
        script=script,
        default_experiment_name=default_experiment_name(),
    )

    structured_j = StructuredJArgument.parse_from(h, j)

    rdzv_backend = "c10d"
    if structured_j.nnodes == 1:
        rdzv_endpoint = "localhost:0"
    else:
        # use $$ in the prefix to escape the '$' literal
        rdzv_endpoint = _noquote(f"$${{{specs.macros.rank0_env}:=localhost}}:29500")

    env.setdefault("LOGLEVEL", os.getenv("LOGLEVEL", "INFO"))
    if debug:
        env.update(_TORCH_DEBUG_FLAGS)
    env["TORCHX_TRACKING_EXPERIMENT_NAME"] = structured_name.experiment_name
    env["TORCHX_USER"] = getuser()
    env["NNODES"] = str(structured_j.nnodes)
    env["IMAGE"] = Containers().tagged("v2")
    env["SHAPE"] = str(structured_j)

    cmd = [
        "torchrun",
        "--rdzv_backend",
        rdzv_backend,
        "--rdzv_endpoint",
        rdzv_endpoint,
        "--rdzv_conf",
        # join_timeout == wait 30 minutes for other nodes to join the job
        f"join_timeout={30 * MINUTES},close_timeout={10 * MINUTES},timeout={30*MINUTES}",
        "--nnodes",
        str(structured_j.nnodes),
        "--nproc_per_node",
        str(structured_j.nproc_per_node),
    ]
    if script is not None:
        cmd += [script]
    else:  # m is not None
        cmd += ["-m", m]
    cmd += args
    resource = specs.resource(h=h)

    if local:
        # override num gpus to be equal to the specified nproc_per_node
        resource.gpu = structured_j.nproc_per_node

    return specs.AppDef(
        name=structured_name.run_name,
        roles=[
            specs.Role(
                name=get_role_name(script, m),
                image=image,
                min_replicas=structured_j.nnodes,
                entrypoint="bash",
                num_replicas=structured_j.nnodes,
                resource=resource,
                args=["-c", _args_join(cmd)],
                env=env,
                port_map={
                    "c10d": 29500,
                },
                max_retries=max_retries,
                mounts=specs.parse_mounts(mounts) if mounts else [],
            )
        ],
    )
