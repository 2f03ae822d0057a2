def get_runner():
    raise NotImplementedError
