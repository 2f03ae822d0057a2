import string
from dataclasses import dataclass
from typing import Any, List, Optional

try:
    from torchx import specs
except ImportError:
    specs = None

PORT = 26600

_TAG_PREFIX = "meshes/${mesh_name}/"
_TAG_HOST_TYPE: str = _TAG_PREFIX + "host_type"
_TAG_GPUS: str = _TAG_PREFIX + "gpus"


@dataclass
class MeshSpec:
    """A mesh."""

    name: str
    num_hosts: int
    host_type: str
    gpus: int = -1


def _tag(mesh_name: str, template: str) -> str:
    return string.Template(template).substitute(mesh_name=mesh_name)


def tag_as_metadata(mesh: MeshSpec, appdef: "specs.AppDef") -> None:
    appdef.metadata[_tag(mesh.name, _TAG_HOST_TYPE)] = mesh.host_type
    appdef.metadata[_tag(mesh.name, _TAG_GPUS)] = str(mesh.gpus)


def mesh_from_str(text: str) -> MeshSpec:
    parts = text.split(":")
    assert len(parts) == 3, f"not of the form 'NAME:NUM_HOSTS:HOST_TYPE': {text}"
    name, num_hosts, host_type = parts
    assert num_hosts.isdigit(), f"{num_hosts} is not a number in: {text}"
    gpus = specs.resource(h=host_type).gpu
    return MeshSpec(name, int(num_hosts), host_type, gpus)


def mesh_from_metadata(appdef: "specs.AppDef", name: str) -> Optional[MeshSpec]:
    for role in appdef.roles:
        if role.name == name:
            return MeshSpec(name=name, num_hosts=role.num_replicas, host_type="", gpus=int(appdef.metadata.get(_tag(name, _TAG_GPUS), -1)))
    return None


def server(
    meshes: List[str],
    name: str = "monarch",
    env: Optional[dict[str, str]] = None,
    port: int = PORT,
    program: str = "mesh_bootstrap",
) -> "specs.AppDef":
    """Serves meshes.

    Args:
        meshes: list of name:hosts:type
        name: of the job
    """
    appdef = specs.AppDef(name=name)
    for mesh in [mesh_from_str(m) for m in meshes]:
        role = specs.Role(
            name=mesh.name,
            image="",
            entrypoint=program,
            args=["mesh-worker", f"--port={port}"],
            num_replicas=mesh.num_hosts,
            resource=specs.resource(h=mesh.host_type),
            env=env or {},
            port_map={"mesh": port},
        )
        tag_as_metadata(mesh, appdef)
        appdef.roles.append(role)
    return appdef
