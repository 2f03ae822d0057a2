import enum
from typing import Literal, Optional, Union

from torchx.specs import AppDef, Resource, Role, RetryPolicy, VolumeMount, BindMount


class Cloud(str, enum.Enum):
    AWS = "aws"
    GCP = "gcp"
    LOCAL = "local"


class Size(enum.IntEnum):
    S = 1
    L = 8


def _mounts(cloud: str):
    match cloud:
        case "aws":
            return [VolumeMount(src="fsx", dst_path="/fsx")]
        case "gcp" | "gke":
            return [VolumeMount(src="filestore", dst_path="/mnt"), BindMount("/tmp", "/scratch", read_only=True)]
        case _:
            return []


def _retries(policy: Optional[str]) -> RetryPolicy:
    if (p := policy) is None:
        return RetryPolicy.APPLICATION
    return RetryPolicy[p.upper()] if p.upper() in ("REPLICA", "ROLE") else RetryPolicy.APPLICATION


def batch(
    mode: Literal["train", "eval"] = "train",
    cloud: str = "aws",
    gpus: int = 8,
    policy: Optional[str] = None,
    data: Union[str, None] = None,
) -> AppDef:
    """Runs a batch job.

    Args:
        mode: train or eval
        cloud: aws, gcp or local
        gpus: per replica
        policy: of retries
        data: a path
    """
    size = Size.L if gpus >= 8 else Size.S
    args = [mode]
    if (path := data) is not None:
        args.append(f"--data={path}")
    while len(args) < 4:
        args.append("--pad")
    known = {c.value for c in Cloud}
    assert cloud in known or cloud.startswith("pkg"), f"cloud {cloud} is not one of {sorted(known)}"
    return AppDef(
        name=f"batch-{mode}",
        roles=[
            Role(
                name=mode,
                image="batch:latest",
                entrypoint="run.sh",
                args=args,
                num_replicas=int(size),
                resource=Resource(cpu=gpus * 12, gpu=gpus, memMB=gpus * 100_000),
                mounts=_mounts(cloud),
                retry_policy=_retries(policy),
                max_retries=1 if policy else 0,
            )
        ],
    )
