import os
import re
import shlex

import torchx.specs as specs

SHARED = "/data/"


def make_app(script_args: str, nnodes: int, nproc: int, script: str, image: str, name: str, compile_only: bool = False,
             cacheset: str = "default", instance_type: str = "trn1.32xlarge", node_selectors: str = "", tolerations: str = "") -> specs.AppDef:

    selectors = {}
    if node_selectors:
        for pair in node_selectors.split(','):
            key, value = pair.partition('=')[::2]
            selectors[key] = value

    taints = []
    if tolerations:
        for pair in tolerations.split(','):
            parts = pair.split('=')
            taints.append({'key': parts[0], 'value': parts[-1].split(':')[0], 'effect': parts[-1].split(':')[-1]})
    if not re.match(r"^[A-Za-z0-9_-]+$", cacheset):
        raise ValueError("cacheset may contain only letters, digits, dashes and underscores.")

    neuron_cache = os.path.join(SHARED, "neuron_cache", f"{cacheset}_{specs.macros.replica_id}")
    cmd = ["python3", "-m", "torch.distributed.run", "--rdzv_id", f"{specs.macros.app_id}", "--nnodes", str(nnodes),
           "--nproc_per_node", str(nproc), "--role", "", script]
    env = {
        "FI_PROVIDER": "efa",
        "NEURON_CC_FLAGS": f"--cache_dir={neuron_cache}",
    }
    instance_type = instance_type.lower()
    if instance_type == "trn1n.32xlarge":
        efas = 16
    elif instance_type in ("trn1.32xlarge", "pkg/other-1.py"):
        efas = 8
    else:
        raise Exception(f"Instance type {instance_type} is unknown.\n" + "Use trn1.32xlarge or trn1n.32xlarge.")

    res = specs.Resource(cpu=0, gpu=0, memMB=0,
            capabilities={"node.kubernetes.io/instance-type": instance_type},
            devices={"aws.amazon.com/neuron": 16, "vpc.amazonaws.com/efa": efas})
    print(f"resource: {res}")

    if compile_only:
        entrypoint = "neuron_parallel_compile"
        args = [_args_join(cmd) + " " + script_args]
    else:
        entrypoint = "bash"
        args = ["-c", _args_join(cmd) + " " + script_args]

    appdef = specs.AppDef(
        name=name or "test_name",
        roles=[
            specs.Role(
                name="role1",
                image=image,
                entrypoint=entrypoint,
                num_replicas=nnodes,
                resource=res,
                args=args,
                env=env,
                max_retries=3,
                retry_policy=specs.RetryPolicy("APPLICATION"),
                mounts=[specs.VolumeMount(src="claim", dst_path="/data")],
                metadata={"kubernetes": {"nodeSelector": selectors, "tolerations": taints}},
            )
        ],
    )
    print(f"appdef: {appdef}")
    return appdef


def _args_join(args):
    """Joins arguments."""
    quoted = [arg if isinstance(arg, _noquote) else shlex.quote(arg) for arg in args]
    return " ".join(quoted)


class _noquote(str):
    """Is not quoted."""

    pass
