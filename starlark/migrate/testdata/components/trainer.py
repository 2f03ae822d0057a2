"""
Trainer Component Examples
==========================

.. code:: bash

    torchx run ./component.py:trainer
"""
# %%
# Trainer Component
# ###################

from typing import Dict, List, Optional

import torchx
import torchx.specs as specs
from torchx.specs import macros


def trainer(
    output_path: Optional[str] = None,
    image: str = torchx.IMAGE,
    data_path: Optional[str] = None,
    load_path: str = "",
    log_path: str = "/tmp/logs",
    resource: Optional[str] = None,
    env: Optional[Dict[str, str]] = None,
    skip_export: bool = False,
    epochs: int = 1,
    layers: Optional[List[int]] = None,
    learning_rate: Optional[float] = None,
    num_samples: int = 200,
) -> specs.AppDef:
    """Runs the example lightning app.

    Args:
        output_path: output path for model checkpoints (e.g. file:///foo/bar)
        image: image to run (e.g. foobar:latest)
        load_path: path to load pretrained model from
        data_path: path to the data to load, if data_path is not provided,
            auto generated test data will be used
        log_path: path to save tensorboard logs to
        resource: the resources to use
        env: env variables for the app
        skip_export: disable model export
        epochs: number of epochs to run
        layers: the number of convolutional layers and their number of channels
        learning_rate: the learning rate to use for training
        num_samples: the number of images to run per batch, use 0 to run on all
    """
    env = env or {}
    args = [
        "-m",
        "train",
        "--load_path",
        load_path,
        "--log_path",
        log_path,
        "--epochs",
        str(epochs),
    ]
    if layers:
        args += ["--layers"] + [str(layer) for layer in layers]
    if learning_rate:
        args += ["--lr", str(learning_rate)]
    if num_samples and num_samples > 0:
        args += ["--num_samples", str(num_samples)]
    if data_path:
        args += ["--data_path", data_path]
    args += ["--output_path", output_path or f"{macros.img_root}/out/{macros.app_id}"]
    if skip_export:
        args.append("--skip_export")
    return specs.AppDef(
        name="cv-trainer",
        roles=[
            specs.Role(
                name="worker",
                entrypoint="python",
                args=args,
                env=env,
                image=image,
                resource=specs.named_resources[resource]
                if resource
                else specs.Resource(cpu=1, gpu=0, memMB=3000),
            )
        ],
    )


def interpret(
    load_path: str,
    data_path: str,
    output_path: str,
    image: str = torchx.IMAGE,
    resource: Optional[str] = None,
) -> specs.AppDef:
    """Runs the model interpretability app on the model outputted by the training
    component.

    Args:
        load_path: path to load pretrained model from
        data_path: path to the data to load
        output_path: output path for model checkpoints
        image: image to run
        resource: the resources to use
    """
    return specs.AppDef(
        name="cv-interpret",
        roles=[
            specs.Role(
                name="worker",
                entrypoint="python",
                args=["-m", "interpret", "--load_path", load_path, "--data_path", data_path, "--output_path", output_path],
                image=image,
                resource=(named(resource) if resource else specs.Resource(cpu=1, gpu=0, memMB=1024)),
            )
        ],
    )


def named(resource: str) -> specs.Resource:
    return specs.get_named_resources(resource)
