import copy
import json
from typing import Dict, List, Optional, Union

from torchx.specs import AppDef, BindMount, DeviceMount, macros, overlays, Resource, Role, RetryPolicy, VolumeMount

GiB = 1024
BASE_RESOURCE = Resource(cpu=2, gpu=1, memMB=8 * GiB, capabilities={"node.kubernetes.io/instance-type": "p3.2xlarge"})

Env = Dict[str, str]


def _role(name: str, env: Optional[Env] = None, **kwargs) -> Role:
    defaults = dict(image="img", entrypoint="sh", resource=BASE_RESOURCE)
    return Role(name=name, env={"ROLE": name, **(env or {})}, **{**defaults, **kwargs})


def pipeline(
    image: str = "img:2",
    workers: int = 2,
    queue: Union[str, None] = None,
    volumes: Optional[List[str]] = None,
    config: Optional[Dict[str, str]] = None,
) -> AppDef:
    """A server and its workers.

    Args:
        image: image
        workers: how many
        queue: queue
        volumes: volumes
        config: configuration
    """
    config_json = json.dumps({"workers": workers, "queue": queue, **(config or {})}, sort_keys=True)
    server = _role(
        "server",
        {"CONFIG": config_json},
        image=image,
        args=["-c", f"serve --id {macros.app_id} --host $${{{macros.rank0_env}}}"],
        port_map={"http": 80},
        mounts=[BindMount("/a", "/b", read_only=True), DeviceMount("/dev/x", "/dev/y", "rw")] + [VolumeMount(v, f"/vol/{i}") for i, v in enumerate(volumes or [])],
    )
    overlays.set_overlay(server, "kubernetes", "V1Pod", {"spec": {"priorityClassName": queue or "low"}})
    worker = copy.deepcopy(server)
    worker.name = "worker"
    worker.num_replicas = workers
    worker.max_retries = 3
    worker.retry_policy = RetryPolicy.ROLE
    worker.resource = Resource.copy(BASE_RESOURCE, zone="a") if queue else BASE_RESOURCE
    roles = [server, worker]
    for i in range(workers):
        extra = _role(f"extra-{i:02d}", image=image)
        extra.args = [str(i).zfill(3), "a".ljust(3) + "|", f"{i:>4}"]
        roles.append(extra)
    order = sorted(roles, key=lambda r: r.name, reverse=True)
    names = [r.name for r in order]
    names.sort()
    first, *others = names
    return AppDef(name="pipeline", roles=roles, metadata={"first": first, "others": " ".join(others), "found": next((n for n in names if n.startswith("w")), "none")})
