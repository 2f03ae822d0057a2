import torchx.specs as specs
from common import Flags, GB, image_of, make_env, resource_for
import defaults as d


def train(script: str, gpus: int = 0, epochs: int = 1) -> specs.AppDef:
    """Trains.

    Args:
        script: what to run
        gpus: how many
        epochs: how many
    """
    flags = Flags({"epochs": epochs, "region": d.REGION})
    return specs.AppDef(
        name="train",
        roles=[
            specs.Role(
                name="train", image=image_of("gpu" if gpus else "cpu"), entrypoint="python", args=[script, *flags.render()],
                env=make_env({"GPUS": str(gpus)}, MODE="train"), resource=resource_for(gpus), metadata={"gb": str(GB)},
            )
        ],
    )
