from typing import Optional

import torchx.specs as specs


def python(
    *args: str,
    m: Optional[str] = None,
    c: Optional[str] = None,
    script: Optional[str] = None,
    host: str = "cpu.small",
    num_replicas: int = 1,
) -> specs.AppDef:
    """Runs python.

    Args:
        args: arguments of the program
        m: module
        c: program as a string
        script: file
        host: a named resource
        num_replicas: copies
    """
    if sum([m is not None, c is not None, script is not None]) != 1:
        raise ValueError("exactly one of `-m`, `-c` and `--script` needs to be specified")
    cmd = []
    if script:
        cmd += [script]
    if m:
        cmd += ["-m", m]
    if c:
        cmd += ["-c", c]
    given = sum(1 for x in (m, c, script) if x)
    chosen = [bool(m), bool(c), bool(script)].index(True)
    return specs.AppDef(
        name="py",
        roles=[
            specs.Role(
                name="python",
                image="img",
                entrypoint="python",
                num_replicas=num_replicas,
                resource=specs.named_resources[host],
                args=[*cmd, *args, str(given), str(chosen), str((m is None) + (c is None)), str(bool(m) == 1)],
                env={"HYDRA_MAIN_MODULE": m} if m else {},
            )
        ],
    )
