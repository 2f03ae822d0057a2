from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import Dict, List, Optional, Union

import json
import torchx.specs as specs


class Precision(Enum):
    FP32 = "fp32"
    BF16 = "bf16"


@dataclass(frozen=True)
class Optim:
    lr: float = 1e-4
    betas: tuple = (0.9, 0.95)
    name: str = "adamw"


@dataclass
class TrainConfig:
    model: str
    layers: int = 12
    optim: Optim = field(default_factory=Optim)
    tags: List[str] = field(default_factory=list)
    precision: Precision = Precision.BF16
    seed: Optional[int] = None

    def to_args(self) -> List[str]:
        args = ["--model", self.model, f"--layers={self.layers}", f"--lr={self.optim.lr}"]
        args += [f"--tag={t}" for t in self.tags]
        if self.seed is not None:
            args += ["--seed", str(self.seed)]
        args += ["--precision", self.precision.value]
        return args

    @property
    def short_name(self) -> str:
        return f"{self.model}-{self.layers}l"

    @classmethod
    def small(cls, **kw) -> "TrainConfig":
        return cls(model="tiny", layers=2, **kw)

    @staticmethod
    def parse(text: str) -> "TrainConfig":
        name, _, layers = text.partition(":")
        return TrainConfig(name, int(layers or 4))


PRESETS: Dict[str, TrainConfig] = {
    "tiny": TrainConfig.small(tags=["debug"]),
    "base": TrainConfig("base", seed=1),
}


def pretrain(preset: str = "base", layers: int = 0, model: str = "gpt:24", dump: bool = False) -> specs.AppDef:
    """Pretrains a model.

    Args:
        preset: tiny or base
        layers: overrides the preset
        model: name:layers if the preset is unknown
        dump: pass the configuration as JSON
    """
    config = PRESETS[preset] if preset in PRESETS else TrainConfig.parse(model if ":" in model else "x:7")
    if layers:
        config = replace(config, layers=layers)
    args = config.to_args()
    if dump:
        args = ["--config", json.dumps(asdict(config.optim))]
    return specs.AppDef(
        name=config.short_name,
        roles=[specs.Role(name="trainer", image="train:1", entrypoint="python", args=["-m", "train"] + args)],
    )
