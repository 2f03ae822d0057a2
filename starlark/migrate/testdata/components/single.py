from torchx import specs


# def submit(script: str, cpu: int, memMB: int) -> specs.AppDef:
#     return specs.AppDef(name="single", roles=[])

import torchx
from torchx import specs
from typing import Optional, List

def python(
    *args: str,
    m: Optional[str] = None,
    c: Optional[str] = None,
    script: Optional[str] = None,
    image: str = torchx.IMAGE,
    name: str = "torchx_utils_python",
    cpu: int = 1,
    gpu: int = 0,
    memMB: int = 1024,
    h: Optional[str] = None,
    num_replicas: int = 1,
    mount: Optional[List[str]] = None,
) -> specs.AppDef:
    """
    Runs ``python`` with the specified module, command or script on the specified
    image and host. Use ``--`` to separate component args and program args
    (e.g. ``torchx run utils.python --m foo.main -- --args to --main``)

    Note: (cpu, gpu, memMB) parameters are mutually exclusive with ``h`` (named resource) where
          ``h`` takes precedence if specified for setting resource requirements.

    Args:
        args: arguments passed to the program in sys.argv[1:] (ignored with `--c`)
        m: run library module as a script
        c: program passed as string (may error if scheduler has a length limit on args)
        script: .py script to run
        image: image to run on
        name: name of the job
        cpu: number of cpus per replica
    """
    if sum([m is not None, c is not None, script is not None]) != 1:
        raise ValueError("exactly one of `--m`, `--c` and `--script` needs to be specified")

    if script:
        cmd = [script]
    elif m:
        cmd = ["-m", m]
    else:
        assert c
        cmd = ["-c", c]
    if not c:
        cmd.extend(args)

    mounts = [mount[i:i+3] for i in range(0, len(mount), 3)] if mount else []
    volumes = []
    for (kind, src, dst) in [x for x in mounts if len(x) == 3]:
        volumes.append(specs.VolumeMount(src=src.split('=')[1], dst_path=dst.split("=")[-1]))

    return specs.AppDef(
        name=name,
        roles=[
            specs.Role(
                name="python",
                image=image,
                entrypoint="python",
                num_replicas=num_replicas,
                resource=specs.resource(cpu=cpu, gpu=gpu, memMB=memMB, h=h),
                args=cmd,
                env={"HYDRA_MAIN_MODULE": m} if m else {},
                mounts=volumes or [specs.BindMount(src_path="/mnt", dst_path="/mnt")],
            )
        ],
    )
