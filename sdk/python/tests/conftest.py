"""The service under test: tests/sdk/parts/client-service.ts starts it and sets the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from meridian_client import Meridian


@dataclass(frozen=True)
class Service:
    url: str
    # May do everything, without a limit that tests reach.
    key: str
    # May only look up.
    geo_key: str
    # On the free plan, with 10 requests a minute.
    free_key: str


@pytest.fixture(scope="session")
def service() -> Service:
    names = ("MERIDIAN_URL", "MERIDIAN_KEY", "MERIDIAN_GEO_KEY", "MERIDIAN_FREE_KEY")
    return Service(*(os.environ[name] for name in names))


@pytest.fixture
def client(service: Service) -> Iterator[Meridian]:
    with Meridian(service.url, service.key) as client:
        yield client


@pytest.fixture
def uncached(service: Service) -> Iterator[Meridian]:
    with Meridian(service.url, service.key, cache=0) as client:
        yield client
