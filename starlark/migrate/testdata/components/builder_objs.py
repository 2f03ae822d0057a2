import torchx.specs as specs
from typing import List


class ArgBuilder:
    """Collects arguments."""

    def __init__(self) -> None:
        self.args: List[str] = []

    def add(self, flag: str, value=None) -> "ArgBuilder":
        self.args.append(flag)
        if value is not None:
            self.args.append(str(value))
        return self

    def build(self) -> List[str]:
        return list(self.args)


def train(lr: float = 0.5, epochs: int = 2, verbose: bool = False) -> specs.AppDef:
    """Trains.

    Args:
        lr: rate
        epochs: count
        verbose: more
    """
    b = ArgBuilder()
    b.add("--lr", lr).add("--epochs", epochs)
    if verbose:
        b.add("-v")
    return specs.AppDef(name="t", roles=[specs.Role(name="t", image="i", entrypoint="train", args=b.build())])
