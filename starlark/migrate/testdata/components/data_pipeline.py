# Copyright (c) Example, Inc.
# All rights reserved.

"""
Data PreProc Component Example
==============================

This is a component definition that runs the example datapreproc app.
"""

from typing import Dict, Optional

import torchx.specs as specs
from torchx.specs import named_resources, Resource


def data_preproc(
    image: str,
    output_path: str,
    input_path: str = "http://example.com/tiny-200.zip",
    env: Optional[Dict[str, str]] = None,
    resource: Optional[str] = None,
    name: str = "datapreproc",
) -> specs.AppDef:
    """Data PreProc app.

    Data PreProc app.

    Args:
        image: Image to use
        output_path: Url-like path to save the processes compressed images
        input_path: Url-like path to fetch the imagenet dataset
        env: Env variables to transfer to the user script
        resource: String representation of the resource
        name: Name of the worker

    Returns:
        specs.AppDef: Torchx AppDef
    """

    env = env or {}
    args = [
        "--input_path",
        input_path,
        "--output_path",
        output_path,
    ]
    if resource:
        resource_def = named_resources[resource]
    else:
        resource_def = Resource(cpu=1, gpu=0, memMB=1024)
    ddp_role = specs.Role(
        name="datapreproc_role",
        image=image,
        entrypoint="main",
        args=args,
        env=env,
        resource=named_resources[resource]
        if resource
        else resource_def,
        num_replicas=1,
    )
    return specs.AppDef(name, roles=[ddp_role])
