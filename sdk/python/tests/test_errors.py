"""What fails, and how callers see it."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest
from both import KINDS, call
from conftest import Service
from stub import Reply, stub

from meridian_client import Meridian, MeridianError

LONDON = "81.2.69.160"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def failure(kind: type[Any], url: str, key: str, method: str, *args: Any, **options: Any) -> Any:
    with pytest.raises(MeridianError) as raised:
        call(kind, url, key, method, *args, **options)
    return raised.value


@pytest.mark.parametrize("kind", KINDS)
class TestErrorsOfTheService:
    def test_400_is_a_bad_request(self, kind: type[Any], service: Service) -> None:
        error = failure(kind, service.url, service.key, "locate", LONDON, fields=["nothing"])
        assert (error.status, error.code) == (400, "BAD_REQUEST")
        assert "nothing" in error.message
        assert UUID.fullmatch(error.request_id)

    def test_401_is_a_wrong_key(self, kind: type[Any], service: Service) -> None:
        error = failure(kind, service.url, "wrong", "me")
        assert (error.status, error.code) == (401, "UNAUTHORIZED")
        assert error.request_id in str(error)

    def test_403_is_a_key_without_the_scope(self, kind: type[Any], service: Service) -> None:
        error = failure(kind, service.url, service.geo_key, "usage")
        assert (error.status, error.code) == (403, "INSUFFICIENT_SCOPE")

    def test_404_is_an_unknown_system(self, kind: type[Any], service: Service) -> None:
        error = failure(kind, service.url, service.key, "asn", 64496)
        assert (error.status, error.code) == (404, "NOT_FOUND")

    def test_404_of_a_wrong_url_is_no_result(self, kind: type[Any], service: Service) -> None:
        error = failure(kind, f"{service.url}/elsewhere", service.key, "locate", LONDON)
        assert (error.status, error.code) == (404, "NOT_FOUND")


def test_429_says_when_to_come_back(service: Service) -> None:
    with Meridian(service.url, service.free_key, retries=0, cache=0) as client:

        def locate_often() -> None:
            for _ in range(11):
                client.locate(LONDON)

        with pytest.raises(MeridianError) as raised:
            locate_often()
    error = raised.value
    assert (error.status, error.code) == (429, "RATE_LIMITED")
    assert error.retry_after is not None
    assert 1 <= error.retry_after <= 60


@pytest.mark.parametrize("kind", KINDS)
class TestBeforeTheRequest:
    @pytest.mark.parametrize("text", ["", "me", ".", "..", "batch", "1.2.3", "fe80::1%eth0", "a/b"])
    def test_other_texts_are_no_addresses(self, kind: type[Any], text: str) -> None:
        with stub(Reply()) as service:
            error = failure(kind, service.url, "key", "locate", text)
        assert (error.status, error.code) == (400, "BAD_REQUEST")
        assert service.requests == []

    @pytest.mark.parametrize("number", ["", "AS", "-1", "1/2", "1.", "1.2.3", "me", "\u0661"])
    def test_other_texts_are_no_systems(self, kind: type[Any], number: str) -> None:
        with stub(Reply()) as service:
            error = failure(kind, service.url, "key", "asn", number)
        assert (error.status, error.code) == (400, "BAD_REQUEST")
        assert service.requests == []

    @pytest.mark.parametrize(
        ("method", "argument", "options"),
        [
            ("locate", LONDON, {"fields": "location.city"}),
            ("locate", LONDON, {"include": "network"}),
            ("locate_many", LONDON, {}),
            ("summary", LONDON, {}),
            ("summary", [LONDON], {"include": "privacy"}),
        ],
    )
    def test_a_text_is_no_list(
        self, kind: type[Any], method: str, argument: Any, options: dict[str, str]
    ) -> None:
        with pytest.raises(TypeError, match="must be a list of texts"):
            call(kind, "http://127.0.0.1", "key", method, argument, **options)

    @pytest.mark.parametrize("url", ["", "example.com", "ftp://example.com", "/v1", None])
    def test_other_texts_are_no_urls(self, kind: type[Any], url: Any) -> None:
        with pytest.raises(ValueError, match="url"):
            kind(url, "key")

    @pytest.mark.parametrize("key", ["", "two words", "line\n", "schlüssel", None])
    def test_a_key_is_one_word_and_never_shown(self, kind: type[Any], key: Any) -> None:
        with pytest.raises(ValueError, match="one word") as raised:
            kind("http://127.0.0.1", key)
        assert not key or key not in str(raised.value)


@pytest.mark.parametrize("kind", KINDS)
class TestForeignAnswers:
    def test_a_page_of_a_proxy_is_unexpected(self, kind: type[Any]) -> None:
        with stub(Reply(200, "<html>Hello</html>")) as service:
            error = failure(kind, service.url, "key", "locate", LONDON)
        assert (error.status, error.code) == (200, "UNEXPECTED_ANSWER")

    def test_redirects_are_not_followed(self, kind: type[Any]) -> None:
        with stub(Reply()) as other:
            with stub(Reply(301, "", {"Location": other.url})) as service:
                error = failure(kind, service.url, "key", "locate", LONDON)
            assert other.requests == []
        assert (error.status, error.code) == (301, "UNEXPECTED_ANSWER")
        assert "redirects" in error.message

    def test_a_batch_with_too_few_results_is_unexpected(self, kind: type[Any]) -> None:
        with stub(Reply(200, {"results": []})) as service:
            error = failure(kind, service.url, "key", "locate_many", [LONDON])
        assert error.code == "UNEXPECTED_ANSWER"


def test_an_error_can_be_pickled() -> None:
    error = MeridianError("RATE_LIMITED", "Slower", 429, "some id", 6.0)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "RATE_LIMITED: Slower (request some id)"
    assert vars(copy) == vars(error)
