"""The one error that all calls raise."""

from __future__ import annotations


class MeridianError(Exception):
    """A call that failed.

    `code` is stable: a code of the API, or one of this client. NETWORK_ERROR: the service could not
    be reached, or the connection broke. TIMEOUT: it did not answer in time. UNEXPECTED_ANSWER: the
    answer is not the service's, for example a page of a proxy.

    `status` is the HTTP status, 0 without an answer. `request_id` finds the request in the log of
    the service. `retry_after` is the number of seconds after which the service may answer.
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: int = 0,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        # All arguments go to the base class, so that the error can be pickled.
        super().__init__(code, message, status, request_id, retry_after)
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        request = "" if self.request_id is None else f" (request {self.request_id})"
        return f"{self.code}: {self.message}{request}"
