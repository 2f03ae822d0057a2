"""Elastic jobs.

.. code:: shell-session

    $ torchx run -s local_cwd dist.ddp -j 1:2x4 \\\\
        --script main.py
"""
import os
import re
from typing import Iterable

import torchx
import torchx.specs as specs
from torchx.components.structured_arg import StructuredJArgument, StructuredNameArgument
from torchx.specs import macros

_FLAGS: dict[str, str] = {"NCCL_DESYNC_DEBUG": "1"}


def spmd(*args: str, script: str | None = None, m: str | None = None, h: str = "gpu.small", j: str = "1x1", env: dict[str, str] | None = None) -> specs.AppDef:
    """
    Usage (by script): torchx run spmd -j 2x8 --script path/to/my/trainer.py -foo bar

    Note: (cpu, gpu, memMB) are not here.
          See `registering named resources <https://example.com/advanced.html#registering>`_.

    Args:
        args: the arguments to the main module or script (e.g. my/trainer.py -foo bar)
            (for docker based runs) the script path must be relative to the WORKDIR of the image
        script:
        m: the main module name (e.g. my.module.trainer). When this option is used, the `script_args` are passed
           as the arguments to the main module).
        h: the type of host
        j: {nnodes}x{nproc_per_node}. For GPU hosts omitting nproc_per_node will infer it
        env: environment variables to be passed to the run (e.g. ENV1=v1,ENV2=v2,ENV3=v3)

    """
    if env is None:
        env = {}

    return ddp(*args, script=script, m=m, h=h, j=str(StructuredJArgument.parse_from(h, j)), env=env)


def ddp(
    *script_args: str,
    script: str | None = None,
    m: str | None = None,
    name: str = "/",
    h: str | None = None,
    j: str = "1x2",
    env: dict[str, str] | None = None,
    metadata: dict[str, str] | None = None,
    rdzv_conf: str | None = None,
    rdzv_backend: str = "c10d",
    debug: bool = False,
    tee: int = 3,
) -> specs.AppDef:
    """Elastic.

    Args:
        j: [{min_nnodes}:]{nnodes}x{nproc_per_node}
    """
    min_nnodes, max_nnodes, nproc_per_node, nnodes_rep = parse_nnodes(j)
    # copy; this component must not mutate the caller's dicts
    env = dict(env) if env else {}
    metadata = dict(metadata) if metadata else {}

    argname = StructuredNameArgument.parse_from(
        name=name,
        m=m,
        script=script,
    )
    env["TORCHX_TRACKING_EXPERIMENT_NAME"] = argname.experiment_name
    env.setdefault("LOGLEVEL", os.getenv("LOGLEVEL", "WARNING"))
    if debug:
        env.update(_FLAGS)
    cmd = [
        "torchrun",
        *(["--rdzv_conf", rdzv_conf] if rdzv_conf is not None else []),
        "--rdzv_id",
        f"{macros.app_id}",
        "--nnodes",
        nnodes_rep,
        "--tee",
        str(tee),
    ]
    # node_rank is only used when rdzv_backend is 'static'
    if rdzv_backend == "static":
        cmd += ["--node_rank", f"{macros.replica_id}"]
    if script is not None:
        cmd += [script]
    elif m is not None:
        cmd += ["-m", m]
    cmd += script_args
    return specs.AppDef(
        name=argname.run_name,
        roles=[specs.Role(name="r", image=torchx.IMAGE, min_replicas=min_nnodes, num_replicas=int(max_nnodes), args=[_join(cmd), str(nproc_per_node)], env=env)],
        metadata=metadata,
    )


def _join(args: Iterable[str]) -> str:
    return " ".join(args)


def parse_nnodes(j: str) -> tuple[int, int, int, str]:
    """
    parse_nnodes converts a node and process string into the individual
    components.
    """
    if re.match("^\\d+:\\d+x\\d+$", j):  # match 2:4x1
        nnodes_rep, nproc_per_node = j.split("x")
        min_nnodes, max_nnodes = nnodes_rep.split(":")
    elif re.match(r"^\d+x\d+$", j):  # match 2x1
        min_nnodes, nproc_per_node = j.split("x")
        max_nnodes = min_nnodes
        nnodes_rep = min_nnodes
    elif re.match("^[0-9]+$", j):  # match 2
        min_nnodes = "1"
        max_nnodes = min_nnodes
        nnodes_rep = min_nnodes
        nproc_per_node = j
    else:
        raise ValueError(
            f"Invalid format for -j, usage example: 1:2x4 or 1x4 or 4. Given: {j}"
        )
    return int(min_nnodes), int(max_nnodes), int(nproc_per_node), nnodes_rep
