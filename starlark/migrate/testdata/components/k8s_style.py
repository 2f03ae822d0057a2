from typing import Any, Dict, List, Optional
from copy import deepcopy

import torchx.specs as specs

GPU_TYPES: Dict[str, Dict[str, str]] = {
    "a100": {"cloud.google.com/gke-accelerator": "nvidia-tesla-a100"},
    "h100": {"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"},
}
BASE_LABELS = {"team": "ml", "app": "train"}


def _volume(name: str, path: str, read_only: bool = True) -> specs.VolumeMount:
    return specs.VolumeMount(src=name, dst_path=path, read_only=read_only)


def _labels(**extra: str) -> Dict[str, str]:
    labels = deepcopy(BASE_LABELS)
    labels.update({k.replace("_", "-"): v for k, v in extra.items()})
    return labels


def train(
    image: str = "gcr.io/team/train:latest",
    gpu_type: str = "a100",
    gpus: int = 8,
    nodes: int = 2,
    claim: Optional[str] = None,
    service_account: Optional[str] = None,
    secrets: Optional[Dict[str, str]] = None,
) -> specs.AppDef:
    """Trains on Kubernetes.

    Args:
        image: image
        gpu_type: a100 or h100
        gpus: of a node
        nodes: how many
        claim: volume claim
        service_account: account
        secrets: name to key
    """
    mounts: List[Any] = [_volume("datasets", "/data")]
    if claim:
        mounts.insert(0, _volume(claim, "/scratch", read_only=False))
    metadata: Dict[str, Any] = {"kubernetes": {"metadata": {"labels": _labels(run_kind="train")}, "spec": {"tolerations": [{"key": "gpu", "operator": "Exists"}]}}}
    if service_account:
        metadata["kubernetes"]["spec"]["serviceAccountName"] = service_account
    capabilities = GPU_TYPES.get(gpu_type) or GPU_TYPES["a100"]
    env = {f"SECRET_{name.upper()}": f"/secrets/{key}" for name, key in (secrets or {}).items()}
    worker = specs.Role(
        name="worker",
        image=image,
        entrypoint="torchrun",
        args=["--nnodes", f"{nodes}", "--nproc_per_node", f"{gpus}", "--rdzv_endpoint", f"$${specs.macros.rank0_env}:29500", "train.py"],
        env=env,
        num_replicas=nodes,
        resource=specs.Resource(cpu=gpus * 10, gpu=gpus, memMB=gpus * 90 * 1024, capabilities=dict(capabilities), devices={"nvidia.com/gpu": gpus}),
        mounts=mounts,
        metadata=metadata,
        port_map={"rdzv": 29500, "metrics": 9090},
    )
    driver = deepcopy(worker)
    driver.name, driver.num_replicas = "driver", 1
    driver.args = ["-c", "driver.py"]
    driver.entrypoint = "python3"
    driver.resource = specs.Resource(cpu=4, gpu=0, memMB=8192)
    driver.env["ROLE"] = "driver"
    return specs.AppDef(name="train", roles=[driver, worker], metadata={"owner": BASE_LABELS["team"]})
