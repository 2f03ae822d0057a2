import os
import sys
import uuid
from typing import List

sys.path.append(os.path.dirname(__file__))

import torchx.specs as specs  # noqa: E402

CLUSTER = {"driver": {"cpu": 4, "mem": "16g"}, "executor": {"cpu": 8, "mem": "32g"}}
_UNITS = {"k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 ** 2}


def to_mb(text: str) -> int:
    number, unit = text[:-1], text[-1].lower()
    return int(float(number) * _UNITS[unit])


def conf(**settings) -> List[str]:
    out: List[str] = []
    for k, v in settings.items():
        out += ["--conf", "spark.%s=%s" % (k.replace("__", "."), str(v).lower() if isinstance(v, bool) else v)]
    return out


def submit(app: str, executors: int = 2, packages: str = "", dynamic: bool = False, *app_args: str) -> specs.AppDef:
    """Submits a Spark application.

    Args:
        app: path
        executors: how many
        packages: coordinates
        dynamic: allocation
        app_args: arguments
    """
    base, ext = os.path.splitext(os.path.basename(app))
    settings = conf(executor__instances=executors, dynamicAllocation__enabled=dynamic, ui__port=4040)
    if packages:
        settings = settings + ["--packages", packages]
    if ext not in (".py", ".jar"):
        raise ValueError("app must be .py or .jar, got " + repr(ext))
    nodes = {**CLUSTER["driver"], "name": "driver"}, {**CLUSTER["executor"], "name": "executor"}
    roles = []
    for node in nodes:
        is_driver = node["name"] == "driver"
        roles.append(
            specs.Role(
                name=node["name"],
                image="spark:3.5",
                entrypoint="/opt/spark/bin/spark-submit" if is_driver else "/opt/spark/bin/executor",
                args=[*settings, app, *app_args] if is_driver else ["--cores", str(node["cpu"])],
                num_replicas=1 if is_driver else executors,
                resource=specs.Resource(cpu=node["cpu"], gpu=0, memMB=to_mb(node["mem"])),
            )
        )
    return specs.AppDef(name=base.replace("_", "-"), roles=roles)
