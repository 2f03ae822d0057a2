from dataclasses import dataclass

from torchx.components import dist
from torchx import specs


@dataclass
class StructuredNameArgument:
    experiment_name: str
    run_name: str

    def __str__(self):
        return self.experiment_name + "/" + self.run_name

    @staticmethod
    def parse_from(name, m=None, script=None, default_experiment_name="default-experiment"):
        if bool(m) == bool(script):
            raise ValueError("exactly one of")
        experiment, slash, run = name.partition("/")
        if not slash:
            experiment, run = "", name
        return StructuredNameArgument(experiment or default_experiment_name, run or dist.get_role_name(script, m))


@dataclass
class StructuredJArgument:
    nnodes: int
    nproc_per_node: int

    def __str__(self):
        return f"{self.nnodes}x{self.nproc_per_node}"

    @staticmethod
    def parse_from(h, j):
        nodes, x, procs = j.partition("x")
        if not nodes.isdigit() or x and not procs.isdigit():
            raise ValueError("Invalid format for `-j")
        gpus = specs.named_resources[h].gpu
        if not x and gpus == 0:
            raise ValueError("nproc_per_node cannot be inferred")
        return StructuredJArgument(int(nodes), int(procs) if x else gpus)
