import copy
import getpass
import json
import logging
import os
from pathlib import Path
from typing import Any, Dict, Final, List, Optional, Tuple

import torchx.components.dist as dist
import torchx.specs as specs
from torchx.specs import named_resources

logger: logging.Logger = logging.getLogger(__name__)
_PACKAGE = "store.client:prod"

_DEFAULT_ENV = {
    "NCCL_DEBUG": "INFO,WARN",
    "FUSE_DST": "/mnt/fuse",
    "ENABLE_STORE": "",
    "STORE_ID": _PACKAGE,
}
PROXY: Final[dict[str, str]] = {
    "http_proxy": "http://proxy:8080",
    "no_proxy": (
        ".example.org,.example.com,"
        "localhost"
    ),
}
DEFAULT_ARGS = {"test.py": {"ods": True}}
_MESH_PORT_NAME = "mesh"
_PORTS = {"system": 29500, _MESH_PORT_NAME: 29501}
_BOOTSTRAP = "/packages/" + _PACKAGE.split(":")[0] + "/bin"


def train(
    *script_args: str,
    script: str = "test.py",
    module: Optional[str] = None,
    nodes: int = 2,
    nproc_per_node: int = 8,
    name: str = "cpu_init",
    h: str = "gpu.medium",
    env: Optional[Dict[str, str]] = None,
    unset_env: Optional[List[str]] = None,
    xzone: bool = False,
    dump_dir_id: str = "${app_id}",
    extra_libraries: Optional[List[str]] = None,
    extra_paths: Optional[List[str]] = None,
    retries: int = 1,
    proxy: bool = False,
) -> specs.AppDef:
    """
    Starts a training job.

    Args:
        script_args: more arguments
        nodes: hosts
    """
    if xzone and nodes > 1000:
        logger.error(
            "The --xzone parameter has moved;"
            'set it with -cfg xzone=True'
        )
        exit(1)

    mast_env = dict(_DEFAULT_ENV)
    username = getpass.getuser()
    gpu_num = nodes * nproc_per_node
    job_name = f"{name}-{gpu_num}-{username}"

    if proxy:
        mast_env.update(PROXY)
    if env:
        mast_env.update(env)
    if unset_env:
        for env_var in unset_env:
            mast_env.pop(env_var, None)
    if not mast_env.get("ENABLE_STORE"):
        mast_env["FUSE_SRC"] = "ws://checkpoint/infra"

    dump_mount = Path(mast_env["FUSE_DST"])
    dump_dir = dump_mount / "outputs" / dump_dir_id
    mast_env["DUMP_DIR"] = str(dump_dir)

    extra_paths = extra_paths or []
    extra_libraries = extra_libraries or []
    if mast_env["ENABLE_STORE"]:
        extra_paths.append("/packages/store/lib")
    for folder in extra_libraries:
        extra_paths.append(f"/packages/extra/{os.path.basename(folder.rstrip('/'))}")
    mast_env["RUN_PYTHONPATH"] = ":".join(extra_paths)

    kwargs = {
        "name": job_name,
        "h": h,
        "env": mast_env,
        "max_retries": retries,
        "m": module,
        "script": script if module is None else None,
    }
    for key in list(kwargs.keys()):
        if kwargs[key] is None:
            kwargs.pop(key)

    full_args = [["--tee", "3", *script_args]]
    job = dist.ddp(*full_args[0], j=f"{nodes}x{nproc_per_node}", **kwargs)
    inner = job.roles[0].entrypoint
    entrypoint = f"mount.sh && {inner}"
    print(f"{entrypoint=}")
    job.roles[0].entrypoint = entrypoint
    packages = [
        job.roles[0].image,
        "symbolizer:stable",
    ]
    if mast_env.get("ENABLE_STORE") == "1":
        packages.append(mast_env.get("STORE_ID", _PACKAGE))
    job.roles[0].image = ";".join(packages)
    return job


def train_mesh(
    *script_args: str,
    nodes: int = 2,
    groups: int = 2,
    h: str = "gpu.medium",
    extra_paths: Optional[List[str]] = None,
) -> specs.AppDef:
    """Starts worker meshes."""
    extra_paths = (extra_paths or []) + [_BOOTSTRAP]
    extra_paths += ["/packages/conda/lib", f"/packages/{_PACKAGE}/lib"]
    job = train(*script_args, nodes=nodes, h=h, extra_paths=extra_paths)
    job.roles[0].image += ";" + ";".join(["so:stable", "mesh:latest"])
    template = job.roles[0]
    template.entrypoint = (
        "mount.sh &&"
        " ls /packages &&"
        f" MESH_DIR=/packages/mesh {_BOOTSTRAP}"
    )
    template.args = []
    template.port_map.update({_MESH_PORT_NAME: _mesh_port()})
    roles, num_nodes = _mesh_roles(template, h=h, task_groups={f"mesh_{i}": nodes for i in range(groups)})
    job.roles = roles
    return job


def _mesh_port() -> int:
    return _ports()[_MESH_PORT_NAME]


def _ports():
    return _PORTS


def _mesh_roles(
    template: specs.Role,
    task_groups: Optional[Dict[str, int]] = None,
    num_meshes: int = -1,
    nodes: int = 1,
    h: str = "gpu.small",
) -> Tuple[List[specs.Role], int]:
    if task_groups is not None and num_meshes != -1:
        raise RuntimeError("Cannot specify both task_groups and num_meshes")
    if task_groups is None:
        task_groups = {f"mesh_{i}": nodes // num_meshes for i in range(num_meshes)}
    assert task_groups
    assert (
        len(set(task_groups.values())) == 1
    ), f"All task groups must have the same number of nodes {task_groups=}"
    workers = []
    for group, num_nodes in task_groups.items():
        worker = copy.deepcopy(template)
        worker.name = group
        worker.env["PREFIX"] = "[${rank}|${local_rank}]:"
        if num_nodes == -1:
            num_nodes = nodes // len(task_groups)
        worker.args = _worker_args(worker.name, num_nodes, named_resources[h].gpu == 0)
        worker.num_replicas = num_nodes
        workers.append(worker)
    return workers, num_nodes


def _worker_args(world: str, num_hosts: int, cpu_worker: bool) -> List[str]:
    args = [f"--num-hosts={num_hosts}", f"--port=%port.{_MESH_PORT_NAME}%"]
    args.extend(["worker", f"--world={world}_worker", "--args", json.dumps({"cpu": cpu_worker})])
    return args


def upload(folder: str) -> None:
    import subprocess

    with open("/tmp/x", "w") as f:
        f.write(folder)
    subprocess.run(["aws", "s3", "cp", folder], check=True)
