import nothing_like_this  # type: ignore[import-not-found]  # noqa: F401 - which is the case
