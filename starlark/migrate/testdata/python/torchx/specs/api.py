from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Optional


class RetryPolicy(str, Enum):
    REPLICA = "REPLICA"
    APPLICATION = "APPLICATION"
    ROLE = "ROLE"


class macros:
    img_root = "${img_root}"
    app_id = "${app_id}"
    replica_id = "${replica_id}"
    rank0_env = "${rank0_env}"


@dataclass
class Resource:
    cpu: float
    gpu: int
    memMB: int
    capabilities: Dict[str, Any] = field(default_factory=dict)
    devices: Dict[str, int] = field(default_factory=dict)
    tags: Dict[str, object] = field(default_factory=dict)

    @staticmethod
    def copy(original, **capabilities):
        merged = {**original.capabilities, **capabilities}
        return Resource(original.cpu, original.gpu, original.memMB, merged, original.devices)


NULL_RESOURCE = Resource(-1, -1, -1)
named_resources = {"gpu.small": Resource(8, 1, 32768)}


def resource(cpu=None, gpu=None, memMB=None, h=None):
    return named_resources[h] if h else Resource(cpu or 2, gpu or 0, memMB or 1024)


@dataclass
class BindMount:
    src_path: str
    dst_path: str
    read_only: bool = False


@dataclass
class VolumeMount:
    src: str
    dst_path: str
    read_only: bool = False


@dataclass
class Role:
    name: str
    image: str
    min_replicas: Optional[int] = None
    entrypoint: str = "<MISSING>"
    args: List[str] = field(default_factory=list)
    env: Dict[str, str] = field(default_factory=dict)
    num_replicas: int = 1
    max_retries: int = 0
    retry_policy: RetryPolicy = RetryPolicy.APPLICATION
    resource: Resource = field(default_factory=lambda: NULL_RESOURCE)
    port_map: Dict[str, int] = field(default_factory=dict)
    metadata: Dict[str, Any] = field(default_factory=dict)
    mounts: List[Any] = field(default_factory=list)


@dataclass
class AppDef:
    name: str
    roles: List[Role] = field(default_factory=list)
    metadata: Dict[str, Any] = field(default_factory=dict)
