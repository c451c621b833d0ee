from settings import _seeded  # noqa: F401
