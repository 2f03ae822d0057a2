"""Changes of specs values that are seen by several names."""
from typing import Dict, List, Optional

import torchx.specs as specs
from torchx.components import dist


def by_a_list(n: int = 1) -> specs.AppDef:
    """The list of an app

    Args:
        n: n
    """
    app = dist.ddp(script="x.py")
    roles = app.roles
    app.roles[0].env["A"] = "1"
    roles.append(specs.Role("b", "i", args=[str(len(roles))]))
    app.roles[1].num_replicas = n
    first = roles[0]
    first.env["B"] = roles[0].env["A"]
    return specs.AppDef(app.name, roles=[app.roles[0], roles[1], first], metadata={"n": str(len(app.roles))})


def by_two_apps() -> specs.AppDef:
    """A role of two apps"""
    app = dist.ddp(script="x.py")
    role = app.roles[0]
    both = specs.AppDef("both", roles=[role, specs.Role("c", "i")])
    app.roles[0].env["A"] = "1"
    both.roles[0].args = ["x"]
    role.entrypoint = " ".join(app.roles[0].args)
    return both


def by_a_dict(names: List[str] = ["a", "b"]) -> specs.AppDef:
    """Roles in a dict

    Args:
        names: names
    """
    by_name = {name: specs.Role(name, "i") for name in names}
    for name in names:
        by_name[name].env["NAME"] = name
        by_name[name].args += [f"--{name}"]
    return specs.AppDef("d", roles=list(by_name.values()))


def by_an_environment(extra: Optional[Dict[str, str]] = None) -> specs.AppDef:
    """The variables of a role

    Args:
        extra: more
    """
    role = specs.Role("r", "i", env={"A": "1"})
    env = role.env
    env["B"] = "2"
    role.env["C"] = env["B"] + "3"
    if extra:
        env.update(extra)
    return specs.AppDef("e", roles=[role], metadata={"env": ",".join(sorted(env))})


def by_loops(n: int = 2) -> specs.AppDef:
    """Loops in loops

    Args:
        n: n
    """
    app = specs.AppDef("l")
    for i in range(n):
        app.roles.append(specs.Role(f"r{i}", "i"))
    for k in ["A", "B"]:
        for role in app.roles:
            role.env[k] = role.name + k
        for j in range(len(app.roles)):
            app.roles[j].args.append(k)
    last = app.roles[-1]
    last.metadata.setdefault("last", "yes")
    return app
