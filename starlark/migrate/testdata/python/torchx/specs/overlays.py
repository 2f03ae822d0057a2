def PUT(field):
    return f"__put__:{field}"


def JOIN(field, on):
    return f"__join__:{field}:{on}"


def DEL(field):
    return f"__del__:{field}"
