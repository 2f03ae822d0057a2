def PUT(field):
    return f"__put__:{field}"


def JOIN(field, on):
    return f"__join__:{field}:{on}"


def DEL(field):
    return f"__del__:{field}"


def set_overlay(role, backend, kind, overlay):
    role.metadata.setdefault(backend, {"__torchx_overlays__": True})[kind] = overlay
