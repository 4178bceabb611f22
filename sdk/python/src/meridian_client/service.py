"""Where calls go, and how answers are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2 as httpx

from .calls import Call
from .errors import MeridianError
from .version import VERSION


@dataclass(frozen=True)
class Service:
    """A service and the key for it, which `repr` does not show."""

    url: str
    key: str = field(repr=False)

    def __post_init__(self) -> None:
        # From the environment, either may be None.
        target = httpx.URL(self.url or "")
        if target.scheme not in ("http", "https") or target.host == "":
            raise ValueError(f"The url must be one such as https://geo.example.com: {self.url!r}")
        if not self.key:
            raise ValueError("The key is empty: it must be one word of ASCII")
        # The message of the HTTP client about a bad header would show the key.
        if not (self.key.isascii() and self.key.isprintable() and self.key.split() == [self.key]):
            raise ValueError("The key must be one word of ASCII")

    def request(
        self, http: httpx.Client | httpx.AsyncClient, call: Call, timeout: float
    ) -> httpx.Request:
        return http.build_request(
            "GET" if call.body is None else "POST",
            self.url.rstrip("/") + call.path,
            params=call.query,
            json=call.body,
            headers={"X-API-Key": self.key, "User-Agent": f"meridian-python/{VERSION}"},
            timeout=timeout,
        )


def read_answer(response: httpx.Response, call: Call) -> Any:
    """Returns the JSON of the answer. Raises MeridianError for errors and for foreign answers."""
    try:
        body = response.json()
    except ValueError:
        body = None
    is_answer = response.is_success or (call.may_be_unknown and response.status_code == 404)
    if is_answer and body is not None and not _is_error(body):
        return body
    raise _to_error(response, body)


def no_answer(cause: httpx.RequestError, service: Service) -> MeridianError:
    """The error of a request that got no answer, or not a whole one."""
    if isinstance(cause, httpx.TimeoutException):
        return MeridianError("TIMEOUT", f"No answer from {service.url} in time")
    return MeridianError("NETWORK_ERROR", f"Cannot reach {service.url}")


def _to_error(response: httpx.Response, body: Any) -> MeridianError:
    status, headers = response.status_code, response.headers
    code, message = "UNEXPECTED_ANSWER", f"The answer is not one of Meridian: status {status}"
    if _is_error(body):
        code, message = body["error"]["code"], body["error"]["message"]
    elif response.is_redirect:
        message = "The service redirects: the url must be the address to which it does"
    retry_after = _read_retry_after(headers.get("Retry-After"))
    return MeridianError(code, message, status, headers.get("X-Request-Id"), retry_after)


def _is_error(body: Any) -> bool:
    error = body.get("error") if isinstance(body, dict) else None
    return isinstance(error, dict) and {"code", "message"} <= error.keys()


def _read_retry_after(text: str | None) -> float | None:
    """Seconds from a number or a date (RFC 9110, 10.2.3)."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    zoned = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    return max(0.0, (zoned - datetime.now(UTC)).total_seconds())
