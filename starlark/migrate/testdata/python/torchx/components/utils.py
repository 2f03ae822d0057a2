import os
import shlex

from torchx import IMAGE, specs


def echo(msg="hello world", image=IMAGE, num_replicas=1):
    return _app("echo", "echo", [msg], image, num_replicas)


def touch(file, image=IMAGE):
    return _app("touch", "touch", [file], image)


def sh(*args, image=IMAGE, num_replicas=1, cpu=1, gpu=0, memMB=1024, h=None, env=None, max_retries=0, mounts=None):
    app = _app("sh", "sh", ["-c", shlex.join(args)], image, num_replicas)
    role = app.roles[0]
    role.env = {"LOGLEVEL": os.getenv("LOGLEVEL", "WARNING"), **(env or {})}
    role.resource, role.max_retries = specs.resource(cpu, gpu, memMB, h), max_retries
    role.mounts = specs.parse_mounts(mounts) if mounts else []
    return app


def python(*args, m=None, c=None, script=None, image=IMAGE, name="torchx_utils_python", cpu=1, gpu=0, memMB=1024, h=None, num_replicas=1):
    app = _app("python", "python", [*(["-m", m] if m else ["-c", c] if c else [script]), *args], image, num_replicas)
    app.name, app.roles[0].resource = name, specs.resource(cpu, gpu, memMB, h)
    app.roles[0].env = {"HYDRA_MAIN_MODULE": m} if m else {}
    return app


def _app(name, entrypoint, args, image, num_replicas=1):
    role = specs.Role(name, image, entrypoint=entrypoint, args=args, num_replicas=num_replicas, resource=specs.Resource(1, 0, 1024))
    return specs.AppDef(name, [role])
