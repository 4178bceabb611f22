"""Middleware in real Django and FastAPI applications."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import django
import httpx2 as httpx
import pytest
from conftest import Service
from django.conf import settings
from django.http import JsonResponse
from django.test import Client, override_settings
from django.urls import path
from fastapi import FastAPI, Request
from stub import Reply, stub

from meridian_client import AsyncMeridian, VisitorOptions
from meridian_client.asgi import LocationMiddleware
from meridian_client.django import LocatedRequest

LONDON = "81.2.69.160"
PRIVATE = "10.1.2.3"


def show(request: LocatedRequest) -> JsonResponse:
    return JsonResponse({"location": request.location, "geolocation": request.geolocation})


settings.configure(
    SECRET_KEY="only for tests",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["meridian_client.django.LocationMiddleware"],
)
django.setup()
urlpatterns = [path("", show)]


def visit_django(url: str, key: str, peer: str, headers: dict[str, str], options: Any) -> Any:
    with override_settings(MERIDIAN={"url": url, "key": key, **options}):
        response = Client(headers=headers).get("/", REMOTE_ADDR=peer)
    assert response.status_code == 200
    return json.loads(response.content)


def visit_fastapi(url: str, key: str, peer: str, headers: dict[str, str], options: Any) -> Any:
    app = FastAPI()

    @app.get("/")
    async def show(request: Request) -> Any:
        return {name: getattr(request.state, name) for name in ("location", "geolocation")}

    async def visit() -> Any:
        async with AsyncMeridian(url, key) as client:
            app.add_middleware(LocationMiddleware, client=client, options=VisitorOptions(**options))
            transport = httpx.ASGITransport(app=app, client=(peer, 1234))
            async with httpx.AsyncClient(transport=transport, base_url="http://app") as visitor:
                return await visitor.get("/", headers=headers)

    response = asyncio.run(visit())
    assert response.status_code == 200
    return response.json()


@pytest.mark.parametrize("framework", [visit_django, visit_fastapi])
class TestMiddleware:
    def test_locates_the_address_of_the_connection(self, framework: Any, service: Service) -> None:
        visitor = framework(service.url, service.key, LONDON, {"X-Forwarded-For": "8.8.8.8"}, {})
        assert visitor["location"]["city"] == "London"
        assert visitor["geolocation"]["query"]["value"] == LONDON

    @pytest.mark.parametrize("text", [LONDON, f"8.8.8.8, {LONDON}", f"{LONDON}:1234"])
    def test_believes_the_last_address_of_a_trusted_header(
        self, framework: Any, service: Service, text: str
    ) -> None:
        headers = {"X-Forwarded-For": text}
        options = {"header": "X-Forwarded-For", "include": ["network"]}
        visitor = framework(service.url, service.key, PRIVATE, headers, options)
        assert visitor["location"]["city"] == "London"
        assert visitor["geolocation"]["network"]["prefix"].startswith("81.2.69.")

    def test_reads_ipv6_with_a_port(self, framework: Any, service: Service) -> None:
        headers = {"X-Real-IP": "[2a00:1450:4009::1]:1234"}
        visitor = framework(service.url, service.key, PRIVATE, headers, {"header": "X-Real-IP"})
        assert visitor["location"]["city"] == "London"

    def test_locates_mapped_addresses_as_ipv4(self, framework: Any, service: Service) -> None:
        visitor = framework(service.url, service.key, f"::ffff:{LONDON}", {}, {})
        assert visitor["geolocation"]["query"]["value"] == LONDON

    @pytest.mark.parametrize(
        "peer",
        [PRIVATE, "127.0.0.1", "100.64.0.1", "224.0.0.1", "::1", "::ffff:10.0.0.1", "", "unix"],
    )
    def test_makes_no_call_for_other_addresses(self, framework: Any, peer: str) -> None:
        with stub(Reply()) as service:
            visitor = framework(service.url, "key", peer, {}, {})
        assert visitor == {"location": None, "geolocation": None}
        assert service.requests == []

    def test_locates_private_addresses_if_asked_to(self, framework: Any, service: Service) -> None:
        visitor = framework(service.url, service.key, PRIVATE, {}, {"locate_private": True})
        assert visitor["location"] is None
        assert visitor["geolocation"]["query"]["value"] == PRIVATE

    @pytest.mark.parametrize("reply", [Reply(503), Reply(cut=True), Reply(200, "a page")])
    def test_does_not_fail_the_request(
        self, framework: Any, reply: Reply, caplog: pytest.LogCaptureFixture
    ) -> None:
        with stub(reply) as service:
            visitor = framework(service.url, "key", LONDON, {}, {})
        assert visitor == {"location": None, "geolocation": None}
        assert len(service.requests) == 1
        [record] = [record for record in caplog.records if record.name == "meridian_client"]
        assert record.levelno == logging.WARNING
        assert LONDON not in record.getMessage()

    def test_does_not_delay_the_request_for_long(self, framework: Any) -> None:
        with stub(Reply(silent=True)) as service:
            visitor = framework(service.url, "key", LONDON, {}, {"timeout": 0.05})
        assert visitor == {"location": None, "geolocation": None}
