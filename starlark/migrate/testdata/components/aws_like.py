import os
from getpass import getuser
from typing import Dict, List, Optional

from torchx import specs
from torchx.components.dist import _args_join, _noquote, _TORCH_DEBUG_FLAGS, get_role_name
from torchx.components.structured_arg import StructuredJArgument, StructuredNameArgument

MINUTES = 60
EFA = "vpc.amazonaws.com/efa"


class Images:
    """Images of a registry."""

    @property
    def registry(self) -> str:
        import os

        return f"1234.dkr.ecr.{os.environ.get('REGION', 'us-west-2')}.amazonaws.com"

    @property
    def TRAINING(self) -> str:
        return f"{self.registry}/pytorch-training:2.0.1-gpu"


def default_experiment() -> str:
    return f"default-experiment-{getuser()}"


def has_efa(resource: specs.Resource) -> bool:
    return EFA in resource.devices


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
    Runs a script on AWS Batch.

    Args:
        args: of the script
        script:
        m: module
        image: of the job
    """

    if image is None:
        image = Images().TRAINING
    resource = specs.get_named_resources(h)

    if env is None:
        env = {}
    if has_efa(resource):
        env["FI_PROVIDER"] = "efa"

    structured_name = StructuredNameArgument.parse_from(
        name=name,
        m=m,
        script=script,
        default_experiment_name=default_experiment(),
    )
    structured_j = StructuredJArgument.parse_from(h, j)

    if structured_j.nnodes == 1:
        rdzv_endpoint = "localhost:0"
    else:
        rdzv_endpoint = _noquote(f"$${{{specs.macros.rank0_env}:=localhost}}:29500")

    env.setdefault("LOGLEVEL", os.getenv("LOGLEVEL", "INFO"))
    if debug:
        env.update(_TORCH_DEBUG_FLAGS)
    env["TORCHX_TRACKING_EXPERIMENT_NAME"] = structured_name.experiment_name
    env["TORCHX_USER"] = getuser()
    env["APE_NNODES"] = str(structured_j.nnodes)

    cmd = [
        "torchrun",
        "--rdzv_endpoint",
        rdzv_endpoint,
        "--rdzv_conf",
        f"join_timeout={30 * MINUTES},timeout={30*MINUTES}",
        "--nnodes",
        str(structured_j.nnodes),
    ]
    if script is not None:
        cmd += [script]
    else:
        cmd += ["-m", m]
    cmd += args
    resource = specs.resource(h=h)

    if local:
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
                port_map={"c10d": 29500},
                max_retries=max_retries,
                mounts=specs.parse_mounts(mounts) if mounts else [],
            )
        ],
    )
