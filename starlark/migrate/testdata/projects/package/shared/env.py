from .names import PREFIX


def named(name: str) -> str:
    return f"{PREFIX}-{name}"


DEFAULT_ENV = {"APP": named("env")}
