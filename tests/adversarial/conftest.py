"""The engine and the runtime image, as the integration tests have them."""

from tests.integration.conftest import engine, runtime_image

__all__ = ["engine", "runtime_image"]
