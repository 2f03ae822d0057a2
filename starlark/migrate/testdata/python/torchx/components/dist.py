import os
import shlex
from pathlib import Path

from torchx import specs
from torchx import IMAGE

_TORCH_DEBUG_FLAGS = {
    "CUDA_LAUNCH_BLOCKING": "1", "NCCL_DESYNC_DEBUG": "1", "TORCH_DISTRIBUTED_DEBUG": "DETAIL", "TORCH_SHOW_CPP_STACKTRACES": "1",
}


class _noquote(str):
    pass


def _args_join(args):
    return " ".join(a if isinstance(a, _noquote) else shlex.quote(a) for a in args)


def get_role_name(script, m):
    return Path(script).stem if script else m.split(".")[-1]


def parse_nnodes(j):
    nodes, x, procs = j.rpartition("x")
    nodes = nodes if x else "1"
    low, _, high = nodes.partition(":")
    high = high or low
    if not (low.isdigit() and high.isdigit() and procs.isdigit()):
        raise ValueError("Invalid format for -j")
    return int(low), int(high), int(procs), nodes


def spmd(*args, script=None, m=None, image=IMAGE, name="/", h="gpu.small", j="1x1", env=None, metadata=None, max_retries=0, mounts=None, debug=False):
    from torchx.components.structured_arg import StructuredJArgument

    j = str(StructuredJArgument.parse_from(h, j))
    return ddp(
        *args, script=script, m=m, image=image, name=name, h=h, j=j, env=env, metadata=metadata, max_retries=max_retries, mounts=mounts, debug=debug
    )


def ddp(
    *script_args, script=None, m=None, image=IMAGE, name="/", h=None, cpu=2, gpu=0, memMB=1024, j="1x2", env=None, metadata=None,
    max_retries=0, rdzv_port=29500, rdzv_backend="c10d", rdzv_conf=None, mounts=None, debug=False, tee=3,
):
    from torchx.components.structured_arg import StructuredNameArgument

    if (script is None) == (m is None):
        raise ValueError("exactly one of --script and -m must be specified")
    low, high, procs, nodes = parse_nnodes(j)
    # The backend may choose another port here.
    endpoint = "localhost:0" if high == 1 else _noquote("$${%s:=localhost}:$${TORCHX_PORT_C10D:=%d}" % (specs.macros.rank0_env, rdzv_port))
    names = StructuredNameArgument.parse_from(name, m=m, script=script)
    env = dict(env or {})
    env["TORCHX_TRACKING_EXPERIMENT_NAME"] = names.experiment_name
    env["TORCHX_TRACKING_RUN_NAME"] = names.run_name
    env.setdefault("LOGLEVEL", os.getenv("LOGLEVEL", "WARNING"))
    env.update(_TORCH_DEBUG_FLAGS if debug else {})
    cmd = ["torchrun", "--rdzv_backend", rdzv_backend, *(["--rdzv_conf", rdzv_conf] if rdzv_conf else []), "--rdzv_endpoint", endpoint]
    cmd += ["--rdzv_id", specs.macros.app_id, "--nnodes", nodes, "--nproc_per_node", str(procs), "--tee", str(tee), "--role", ""]
    cmd += ["--node_rank", specs.macros.replica_id] if rdzv_backend == "static" else []
    cmd += [script] if script else ["-m", m]
    return specs.AppDef(
        names.run_name,
        [specs.Role(
            get_role_name(script, m), image, entrypoint="bash", args=["-c", _args_join([*cmd, *script_args])], env=env, min_replicas=low,
            num_replicas=high, max_retries=max_retries, resource=specs.resource(cpu, gpu, memMB, h), port_map={"c10d": rdzv_port},
            mounts=specs.parse_mounts(mounts) if mounts else [],
        )],
        dict(metadata or {}),
    )
