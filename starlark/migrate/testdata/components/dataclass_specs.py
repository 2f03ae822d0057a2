"""Meshes of hosts."""
from dataclasses import dataclass, field
from typing import Dict, List, NamedTuple, Optional

from torchx import specs

_TAG = "meshes/{}/"


@dataclass
class MeshSpec:
    """A mesh.

    More text.
    """

    name: str
    num_hosts: int
    host_type: str
    # set later
    gpus: int = -1
    labels: Dict[str, str] = field(default_factory=dict)
    ports: List[int] = field(default_factory=lambda: [26600])

    def key(self, what: str) -> str:
        return _TAG.format(self.name) + what

    @property
    def total(self) -> int:
        return self.num_hosts * max(self.gpus, 1)

    @staticmethod
    def parse(text: str) -> "MeshSpec":
        parts = text.split(":")
        assert len(parts) == 3, f"not of the form NAME:HOSTS:TYPE: {text}"
        name, num_hosts, host_type = parts
        assert num_hosts.isdigit(), f"{num_hosts} is not a number"
        gpus = specs.resource(h=host_type).gpu
        return MeshSpec(name, int(num_hosts), host_type, gpus=gpus)

    def __str__(self) -> str:
        return f"{self.name}({self.num_hosts})"


class Ports(NamedTuple):
    first: int
    last: int = 10


def tag_as_metadata(mesh: MeshSpec, appdef: specs.AppDef) -> None:
    appdef.metadata[mesh.key("host_type")] = mesh.host_type
    appdef.metadata[mesh.key("gpus")] = str(mesh.gpus)


def host_mesh(
    name: str = "server",
    image: str = "img",
    meshes: list[str] = ["mesh_0:1:gpu.small"],
    env: Optional[Dict[str, str]] = None,
    port: int = 26600,
    program: str = "bootstrap",
) -> specs.AppDef:
    """
    Args:
        name: the name of the server job
        image: image
        meshes: list of mesh specs of the form "{name}:{num_hosts}:{host_type}"
        env: environment variables to be passed to the main command (e.g. ENV1=v1,ENV2=v2,ENV3=v3)
        port: the port
        program: path to the binary
    """
    ports = Ports(first=port)
    appdef = specs.AppDef(name=name)
    for mesh in [MeshSpec.parse(mesh) for mesh in meshes]:
        mesh_role = specs.Role(
            name=mesh.name,
            image=image,
            entrypoint="process_allocator",  # get this binary first
            args=[
                f"--port={port}",
                f"--program={program}",
                f"--total={mesh.total}",
                f"{mesh} {ports.first}-{ports.last} {mesh.ports}",
            ],
            num_replicas=mesh.num_hosts,
            resource=specs.resource(h=mesh.host_type),
            env=env or {},
            port_map={"mesh": port},
        )
        appdef.roles.append(mesh_role)
        tag_as_metadata(mesh, appdef)
    return appdef
