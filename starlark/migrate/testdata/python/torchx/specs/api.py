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
_NAMED = {"gpu.small": (8, 1, 32768), "gpu.medium": (16, 2, 65536), "cpu.small": (1, 0, 2048), "cpu.medium": (2, 0, 4096)}


class _Named(dict):
    def __missing__(self, name):
        return Resource(*_NAMED[name])


named_resources = _Named()
MISSING, NONE = "<MISSING>", "<NONE>"


def get_named_resources(res):
    return named_resources[res]


def resource(cpu=None, gpu=None, memMB=None, h=None):
    return named_resources[h] if h else Resource(cpu or 2, gpu or 0, memMB or 1024)


def parse_mounts(opts):
    mounts = []
    for opt in opts:
        key, _, value = opt.partition("=")
        if key == "type":
            mounts.append({"type": value})
        mounts[-1][{"source": "src", "target": "dst", "read_only": "readonly"}.get(key, key)] = value
    return [
        BindMount(m["src"], m["dst"], "readonly" in m) if m["type"] == "bind" else VolumeMount(m["src"], m["dst"], "readonly" in m)
        if m["type"] == "volume" else DeviceMount(m["src"], m.get("dst", m["src"]), m.get("perm", "rwm"))
        for m in mounts
    ]


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
class DeviceMount:
    src_path: str
    dst_path: str
    permissions: str = "rwm"


@dataclass
class Workspace:
    projects: Dict[str, str]


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
    workspace: Optional[Workspace] = None


@dataclass
class AppDef:
    name: str
    roles: List[Role] = field(default_factory=list)
    metadata: Dict[str, Any] = field(default_factory=dict)
