"""Each call of both clients, at the real service."""

from __future__ import annotations

import inspect
from ipaddress import ip_address
from typing import Any

import pytest
from both import KINDS, call
from conftest import Service

from meridian_client import AsyncMeridian, Meridian

LONDON = "81.2.69.160"
UNKNOWN = "10.0.0.1"

pytestmark = pytest.mark.parametrize("kind", KINDS)


class TestLocate:
    def test_returns_the_whole_result(self, kind: type[Any], service: Service) -> None:
        result = call(kind, service.url, service.key, "locate", LONDON)
        assert result["query"] == {"type": "ip", "value": LONDON, "ipVersion": 4}
        assert result["location"]["city"] == "London"
        assert result["location"]["country"]["code"] == "GB"
        assert "prefix" not in result.get("network", {})

    def test_takes_parsed_addresses(self, kind: type[Any], service: Service) -> None:
        address = ip_address("2a00:1450:4009::1")
        result = call(kind, service.url, service.key, "locate", address)
        assert result["query"]["value"] == "2a00:1450:4009::1"
        assert result["location"]["city"] == "London"

    def test_returns_only_the_fields_asked_for(self, kind: type[Any], service: Service) -> None:
        fields = ["location.country.name", "meta.precision"]
        result = call(kind, service.url, service.key, "locate", LONDON, fields=fields, lang="de")
        assert result == {
            "location": {"country": {"name": "Vereinigtes Königreich"}},
            "meta": {"precision": "city"},
        }

    def test_returns_the_whole_result_for_an_empty_list_of_fields(
        self, kind: type[Any], service: Service
    ) -> None:
        result = call(kind, service.url, service.key, "locate", LONDON, fields=[])
        assert result["location"]["city"] == "London"

    def test_includes_the_network(self, kind: type[Any], service: Service) -> None:
        result = call(kind, service.url, service.key, "locate", LONDON, include=["network"])
        assert result["network"]["prefix"].startswith("81.2.69.")

    def test_returns_a_result_without_location_if_nobody_knows(
        self, kind: type[Any], service: Service
    ) -> None:
        result = call(kind, service.url, service.key, "locate", UNKNOWN)
        assert "location" not in result
        assert result["meta"]["precision"] == "none"


def test_me_locates_the_caller(kind: type[Any], service: Service) -> None:
    result = call(kind, service.url, service.key, "me")
    assert result["query"]["value"] == "127.0.0.1"


def test_summary_counts_by_place(kind: type[Any], service: Service) -> None:
    addresses = [LONDON, "81.2.69.161", UNKNOWN, "nowhere"]
    result = call(kind, service.url, service.key, "summary", addresses, top=1, include=["privacy"])
    assert result["addresses"] == {"total": 4, "distinct": 3, "invalid": 1}
    assert result["countries"] == [{"code": "GB", "name": "United Kingdom", "count": 2}]


@pytest.mark.parametrize("number", [20712, "20712", "AS20712", "as20712", "ASN20712", "AS0.20712"])
def test_asn_describes_a_system(kind: type[Any], service: Service, number: int | str) -> None:
    system = call(kind, service.url, service.key, "asn", number, family=4, limit=1)
    assert system["asn"] == "AS20712"
    assert len(system["prefixes"]) == 1
    assert system["limit"] == 1


def test_usage_returns_the_requests_of_the_owner(kind: type[Any], service: Service) -> None:
    before = call(kind, service.url, service.key, "usage")["totalRequests"]
    call(kind, service.url, service.key, "locate", LONDON)
    after = call(kind, service.url, service.key, "usage")["totalRequests"]
    assert after == before + 1


def test_both_clients_have_the_same_methods(kind: type[Any]) -> None:
    other = AsyncMeridian if kind is Meridian else Meridian
    for name, method in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(method) == inspect.signature(getattr(other, name))
