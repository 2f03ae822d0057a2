import getpass
import logging
import os
import sys
from typing import Any, Dict, Final, List, Optional

import torchx.specs as specs
from torchx.components import utils
from torchx.components.utils import sh

logger = logging.getLogger(__name__)
_EXTRA = "additional_packages"
_MOUNT_SCRIPT = "$WORKSPACE_DIR/mount.sh"

_DEFAULT_ENV = {
    "NCCL_DEBUG": "INFO,WARN",
    "HANDLERS": (
        "observability.structured_logger."
        "jsonl_handler"
    ),
    # --- threads
    "COMPILE_THREADS": "8",
    "UNSET_ME": "",
}

PROXY: Final[dict[str, str]] = {
    "https_proxy": "http://fwdproxy:8080",
    "no_proxy": (".example.net,.example.com," "localhost"),
}


def train(
    *script_args: str,
    nodes: int = 2,
    nproc_per_node: int = 8,
    name: str = "llama",
    env: Optional[Dict[str, str]] = None,
    unset_env: Optional[List[str]] = None,
    retries: int = 0,
    libraries: Optional[List[str]] = None,
    xzone: bool = False,
    proxy: bool = True,
) -> specs.AppDef:
    """
    Kick off a training job.
    Sane defaults are specified in the .torchxconfig.

    Args:
        script_args: additional args to pass through to the script
        nodes: total hosts to use
        sweep: name of yaml file for parameters
        nproc_per_node: processes per node
        name: custom name for this job
    """
    if nproc_per_node != 8:
        logger.error(
            "This experiment requires exactly eight ranks per host;"
            'Please set it with --nproc="8"!'
        )
        sys.exit("bad nproc_per_node")
    if xzone:
        exit(1)
    task_env = dict(_DEFAULT_ENV)
    task_env.update(env or {})
    if proxy:
        task_env.update(PROXY)
    if unset_env:
        for env_var in unset_env:
            task_env.pop(env_var, None)
    python_paths = [f"/packages/{_EXTRA}/{os.path.basename(path.rstrip('/'))}" for path in list(libraries or [])]
    task_env["PYTHONPATH"] = ":".join(python_paths)
    gpu_num = nodes * nproc_per_node
    job_name = f"{name}-{gpu_num}-{getpass.getuser()}"
    kwargs = {"image": "conda:1", "env": task_env, "max_retries": retries, "h": None, "num_replicas": nodes}
    for key in list(kwargs.keys()):
        if kwargs[key] is None:
            kwargs.pop(key)
    print(f"{job_name=}", file=sys.stderr)
    app = sh("run.sh", "--nnodes", str(nodes), *script_args, **kwargs)
    role = app.roles[0]
    role.name = "training"
    app = specs.AppDef(
        name=job_name,
        roles=[role],
        metadata={**app.metadata, "n": str(gpu_num)},
    )
    role.entrypoint = f"{_MOUNT_SCRIPT} && {role.entrypoint}"
    packages: List[Any] = [
        role.image,
        "symbolizer:stable",
    ]
    if task_env.get("COMPILE_THREADS") == "8":
        packages.append(task_env.get("MISSING", "oil:stable"))
    role.image = ";".join(packages)
    return app


def hello(who: str = "world") -> specs.AppDef:
    """Greets

    :param who: whom
    """
    return utils.echo(msg=f"hello {who!r:>10}", image="busybox")
