"""Answers that are kept by network."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from both import KINDS, call
from conftest import Service
from stub import Reply, stub

from meridian_client import Meridian, MeridianError
from meridian_client.asked import Asked
from meridian_client.known_answers import KnownAnswers

LONDON = "81.2.69.160"
NEIGHBOUR = "81.2.69.161"
DEFAULT = Asked()


def counted(client: Meridian) -> int:
    """The look-ups that the service has counted."""
    return client.usage()["totalRequests"]


class TestNeighbours:
    def test_cost_one_call(self, client: Meridian) -> None:
        before = counted(client)
        client.locate(LONDON)
        client.locate(NEIGHBOUR)
        client.locate_many([LONDON, NEIGHBOUR, "81.2.69.162"])
        assert counted(client) == before + 1

    def test_have_their_own_query(self, client: Meridian) -> None:
        client.locate(LONDON)
        result = client.locate(NEIGHBOUR)
        assert result["query"] == {"type": "ip", "value": NEIGHBOUR, "ipVersion": 4}
        assert client.locate("::ffff:81.2.69.160")["query"]["value"] == "::ffff:81.2.69.160"

    def test_cost_a_call_each_without_a_cache(self, uncached: Meridian) -> None:
        before = counted(uncached)
        uncached.locate(LONDON)
        uncached.locate(NEIGHBOUR)
        assert counted(uncached) == before + 2

    def test_cost_a_call_each_if_hostnames_are_included(self, client: Meridian) -> None:
        before = counted(client)
        client.locate(LONDON, include=["hostname"])
        client.locate(NEIGHBOUR, include=["hostname"])
        assert counted(client) == before + 2

    def test_are_known_from_lists(self, client: Meridian) -> None:
        before = counted(client)
        client.locate_many([LONDON])
        client.locate(NEIGHBOUR)
        assert counted(client) == before + 1


def test_a_known_answer_equals_that_of_the_service(client: Meridian, uncached: Meridian) -> None:
    questions = [
        (fields, include)
        for fields in (
            None,
            ["location.city"],
            ["network"],
            ["network.prefix"],
            ["network.asn", "query.value"],
            ["query", "network.prefix", "meta.precision"],
        )
        for include in ([], ["network"], ["privacy"], ["network", "privacy"])
    ]
    for address in (NEIGHBOUR, "8.8.8.8", "10.0.0.1", "2a00:1450:4009::5"):
        for fields, include in questions:
            client.locate(ip_address(address) + 1, fields=fields, include=include)
            before = counted(client)
            known = client.locate(address, fields=fields, include=include)
            assert counted(client) == before
            asked = uncached.locate(address, fields=fields, include=include)
            assert without_id(known) == without_id(asked)


def without_id(result: Any) -> Any:
    meta = {name: value for name, value in result.get("meta", {}).items() if name != "requestId"}
    return {**result, "meta": meta}


class TestKnownAnswers:
    def answer(self, prefix: str, **more: Any) -> dict[str, Any]:
        return {"location": {"city": prefix}, "network": {"prefix": prefix}, **more}

    def test_expire(self) -> None:
        now = [0.0]
        known = KnownAnswers(10, 60, lambda: now[0])
        known.keep(ip_address("192.0.2.1"), DEFAULT, self.answer("192.0.2.0/24"))
        now[0] = 59
        assert known.find(ip_address("192.0.2.9"), DEFAULT) is not None
        now[0] = 60
        assert known.find(ip_address("192.0.2.9"), DEFAULT) is None

    def test_drop_the_least_recently_used(self) -> None:
        known = KnownAnswers(2, 60)
        for network in (1, 2):
            prefix = f"192.0.{network}.0/24"
            known.keep(ip_address(f"192.0.{network}.1"), DEFAULT, self.answer(prefix))
        known.find(ip_address("192.0.1.1"), DEFAULT)
        known.keep(ip_address("192.0.3.1"), DEFAULT, self.answer("192.0.3.0/24"))
        found = [known.find(ip_address(f"192.0.{n}.5"), DEFAULT) is not None for n in (1, 2, 3)]
        assert found == [True, False, True]

    def test_are_apart_for_each_question_and_version(self) -> None:
        known = KnownAnswers(2, 60)
        known.keep(ip_address("1.2.3.4"), DEFAULT, self.answer("1.2.3.4/32"))
        assert known.find(ip_address("1.2.3.4"), Asked(lang="de")) is None
        assert known.find(ip_address("102:304::"), DEFAULT) is None

    def test_of_ipv6_networks_leave_ipv4_addresses_alone(self) -> None:
        known = KnownAnswers(200, 60)
        mapped = ip_address("::ffff:1.2.3.4")
        for length in range(129):
            prefix = str(ip_network(f"{mapped}/{length}", strict=False))
            known.keep(mapped, DEFAULT, self.answer(prefix))
        assert known.find(mapped, DEFAULT) is not None
        assert known.find(ip_address("1.2.3.4"), DEFAULT) is None

    def test_leave_out_what_is_not_right_for_the_network(self) -> None:
        known = KnownAnswers(2, 60)
        address = ip_address("192.0.2.1")
        known.keep(address, DEFAULT, self.answer("192.0.2.0/24", meta={"degraded": True}))
        known.keep(address, DEFAULT, self.answer("198.51.100.0/24"))
        known.keep(address, DEFAULT, {"location": {}})
        assert known.find(address, DEFAULT) is None

    def test_belong_to_each_caller(self) -> None:
        known = KnownAnswers(2, 60)
        address = ip_address("192.0.2.1")
        known.keep(address, DEFAULT, self.answer("192.0.2.0/24"))
        found = known.find(address, DEFAULT)
        assert found == {"location": {"city": "192.0.2.0/24"}}
        found["location"].clear()
        assert known.find(address, DEFAULT) == {"location": {"city": "192.0.2.0/24"}}


@pytest.mark.parametrize("kind", KINDS)
class TestLists:
    def test_of_any_length_keep_their_order(self, kind: type[Any], service: Service) -> None:
        addresses = [f"81.2.{n // 250}.{n % 250}" for n in range(2_500)]
        addresses[7:7] = ["nowhere"]
        addresses[1_200:1_200] = ["", "x" * 70_000, "fe80::1%eth0"]
        addresses.append("2a00:1450:4009::1")
        items = call(kind, service.url, service.key, "locate_many", addresses)
        assert len(items) == len(addresses)
        for address, item in zip(addresses, items, strict=True):
            assert item["query"]["value"] == address[:100]
        refused = [at for at, item in enumerate(items) if "error" in item]
        assert refused == [7, 1_200, 1_201, 1_202]
        assert items[7]["error"]["code"] == "BAD_REQUEST"

    def test_refuse_texts_as_the_service_does(self, kind: type[Any], service: Service) -> None:
        with Meridian(service.url, service.key) as client:
            body = {"ips": ["nowhere", "x" * 200]}
            request = client._http.build_request(
                "POST",
                f"{service.url}/v1/ip/batch",
                json=body,
                headers={"X-API-Key": service.key},
            )
            expected = client._http.send(request).json()["results"]
        assert call(kind, service.url, service.key, "locate_many", body["ips"]) == expected

    def test_locate_repeated_addresses_once(self, kind: type[Any], service: Service) -> None:
        with Meridian(service.url, service.key) as client:
            before = counted(client)
            first, second = call(kind, service.url, service.key, "locate_many", [LONDON] * 2)
            assert counted(client) == before + 1
        assert first == second
        assert first is not second

    def test_may_be_empty(self, kind: type[Any]) -> None:
        with stub(Reply()) as service:
            assert call(kind, service.url, "key", "locate_many", []) == []
        assert service.requests == []

    def test_fail_with_one_batch(self, kind: type[Any], service: Service) -> None:
        addresses = [f"81.2.{n // 250}.{n % 250}" for n in range(1_001)]
        with pytest.raises(MeridianError, match="UNAUTHORIZED"):
            call(kind, service.url, "wrong", "locate_many", addresses)
