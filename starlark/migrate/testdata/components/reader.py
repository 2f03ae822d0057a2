import torchx.specs as specs


def train(image: str = "train:latest", *args: str) -> specs.AppDef:
    return specs.AppDef(
        name="text_classification",
        roles=[
            specs.Role(
                name="trainer",
                image=image,
                entrypoint="python",
                args=[
                    "-m", "train",
                ] + [v for arg in args for v in arg.split()],
            )
        ],
    )


image_classification_args = [
    "-m", "run",
    "--config-name",
    "train_app",
]


def torchx_app(image: str = "run.py:latest", *job_args: str) -> specs.AppDef:
    return specs.AppDef(
        name="run",
        roles=[
            specs.Role(
                name="run",
                image=image,
                entrypoint="python",
                args=[*image_classification_args, *job_args],
                env={
                    "CONFIG_MODULE": "recipes.image_classification.conf",
                    "MODE": "prod",
                }
            )
        ],
    )
