"""Calls that are made again after a failure that may pass."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from both import KINDS, call
from stub import Reply, stub

from meridian_client import AsyncMeridian, Meridian, MeridianError

LONDON = "81.2.69.160"
FOUND = Reply(200, {"location": {"city": "London"}})
BATCH = Reply(200, {"results": [FOUND.body]})
LIMITED = Reply(429, {"error": {"code": "RATE_LIMITED", "message": "Slower"}}, {"Retry-After": "7"})
UNAVAILABLE = Reply(503, {"error": {"code": "SERVICE_UNAVAILABLE", "message": "Later"}})


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that clients make; they take no time."""
    made: list[float] = []

    async def pause(seconds: float) -> None:
        made.append(seconds)

    monkeypatch.setattr("meridian_client.client.sleep", made.append)
    monkeypatch.setattr("meridian_client.async_client.sleep", pause)
    return made


@pytest.mark.parametrize("kind", KINDS)
class TestRepeatedCalls:
    def test_a_429_is_repeated_when_retry_after_has_passed(
        self, kind: type[Any], pauses: list[float]
    ) -> None:
        with stub(LIMITED, FOUND) as service:
            assert call(kind, service.url, "key", "locate", LONDON) == FOUND.body
        assert len(service.requests) == 2
        assert len(pauses) == 1
        assert 7 <= pauses[0] <= 7.5

    def test_retry_after_may_be_a_date(self, kind: type[Any], pauses: list[float]) -> None:
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
        with stub(Reply(503, "busy", {"Retry-After": date}), FOUND) as service:
            call(kind, service.url, "key", "locate", LONDON)
        assert 15 <= pauses[0] <= 21

    def test_a_503_is_repeated_after_growing_pauses(
        self, kind: type[Any], pauses: list[float]
    ) -> None:
        with stub(UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, FOUND) as service:
            call(kind, service.url, "key", "locate", LONDON)
        for pause, longest in zip(pauses, (0.5, 1, 2), strict=True):
            assert longest / 2 <= pause <= longest

    def test_a_cut_connection_is_repeated(self, kind: type[Any], pauses: list[float]) -> None:
        with stub(Reply(cut=True), FOUND) as service:
            assert call(kind, service.url, "key", "locate", LONDON) == FOUND.body
        assert len(pauses) == 1

    def test_a_list_is_repeated_after_a_429(self, kind: type[Any], pauses: list[float]) -> None:
        with stub(LIMITED, BATCH) as service:
            assert call(kind, service.url, "key", "locate_many", [LONDON]) == [FOUND.body]
        assert service.requests == ["POST /v1/ip/batch"] * 2

    @pytest.mark.parametrize("reply", [Reply(cut=True), Reply(502, "proxy"), Reply(504, "proxy")])
    def test_a_list_that_may_have_been_counted_is_not(
        self, kind: type[Any], pauses: list[float], reply: Reply
    ) -> None:
        with stub(reply, BATCH) as service, pytest.raises(MeridianError):
            call(kind, service.url, "key", "locate_many", [LONDON])
        assert len(service.requests) == 1

    @pytest.mark.parametrize("status", [400, 401, 403, 413, 500])
    def test_other_errors_are_not(self, kind: type[Any], pauses: list[float], status: int) -> None:
        reply = Reply(status, {"error": {"code": "SOME", "message": "No"}})
        with stub(reply, FOUND) as service, pytest.raises(MeridianError):
            call(kind, service.url, "key", "locate", LONDON)
        assert len(service.requests) == 1


@pytest.mark.parametrize("kind", KINDS)
class TestGivingUp:
    def test_after_three_repetitions(self, kind: type[Any], pauses: list[float]) -> None:
        with stub(LIMITED) as service, pytest.raises(MeridianError) as raised:
            call(kind, service.url, "key", "locate", LONDON)
        assert len(service.requests) == 4
        assert raised.value.status == 429
        assert raised.value.retry_after == 7

    def test_at_once_if_the_service_asks_to_wait_long(
        self, kind: type[Any], pauses: list[float]
    ) -> None:
        with stub(LIMITED) as service, pytest.raises(MeridianError):
            call(kind, service.url, "key", "locate", LONDON, client={"max_wait": 6})
        assert len(service.requests) == 1

    def test_without_a_connection(self, kind: type[Any], pauses: list[float]) -> None:
        with stub(FOUND) as service:
            pass
        with pytest.raises(MeridianError) as raised:
            call(kind, service.url, "key", "locate", LONDON)
        assert (raised.value.status, raised.value.code) == (0, "NETWORK_ERROR")
        assert raised.value.__cause__ is not None
        assert len(pauses) == 3

    def test_without_an_answer_in_time(self, kind: type[Any]) -> None:
        options = {"timeout": 0.05, "retries": 0}
        with stub(Reply(silent=True)) as service, pytest.raises(MeridianError) as raised:
            call(kind, service.url, "key", "locate", LONDON, client=options)
        assert (raised.value.status, raised.value.code) == (0, "TIMEOUT")


def test_a_cancelled_call_ends_at_once() -> None:
    async def run(url: str) -> None:
        async with AsyncMeridian(url, "key") as client:
            task = asyncio.create_task(client.locate_many([LONDON]))
            while len(service.requests) == 0:
                await asyncio.sleep(0.01)
            task.cancel()
            await task

    with stub(LIMITED) as service, pytest.raises(asyncio.CancelledError):
        asyncio.run(run(service.url))
    assert len(service.requests) == 1


def test_threads_share_a_client() -> None:
    with stub(BATCH) as service, Meridian(service.url, "key") as client:
        assert client.with_options(timeout=1, retries=0).locate_many([LONDON]) == [FOUND.body]
