# Parameter servers and workers.
from typing import Dict, List, Optional, Tuple

from torchx.specs import AppDef, Resource, Role, macros, named_resources, resource

PS, WORKER, CHIEF = "ps", "worker", "chief"


def parse_size(text: str) -> Tuple[int, int]:
    try:
        a, b = text.split("x")
        return int(a), int(b)
    except ValueError:
        return 1, 2


def hosts(role: str, n: int, port: int) -> str:
    return ",".join("{role}-{i}:{port}".format(role=role, i=i, port=port) for i in range(n))


def cluster(size: str = "2x3", port: int = 2222, script: str = "train.py", gpu: bool = False, extra_env: Optional[Dict[str, str]] = None) -> AppDef:
    """A cluster of parameter servers.

    Args:
        size: servers x workers
        port: port
        script: script
        gpu: workers have one
        extra_env: variables
    """
    n_ps, n_workers = parse_size(size)
    spec = {PS: n_ps, WORKER: n_workers, CHIEF: 1}
    env = {"CLUSTER_" + k.upper(): hosts(k, v, port) for k, v in spec.items()}
    if extra_env is not None:
        env |= extra_env
    roles: List[Role] = []
    for kind, count in spec.items():
        if count == 0:
            continue
        res = resource(cpu=2, memMB=4096)
        if gpu and kind != PS:
            res = named_resources["gpu.small"]
        r = Role(name=kind, image="tf:2", entrypoint="python", num_replicas=count, resource=res)
        r.args = [script, f"--job_name={kind}", f"--task_index={macros.replica_id}"]
        r.env = dict(env)
        if kind == CHIEF:
            r.args.append("--chief")
            r.env["IS_CHIEF"] = "1"
        else:
            r.port_map = {kind: port}
        roles.append(r)
    return AppDef(name="ps", roles=roles)
