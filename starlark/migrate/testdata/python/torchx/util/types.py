def none_throws(value, message="Unexpected `None`"):
    if value is None:
        raise AssertionError(message)
    return value
