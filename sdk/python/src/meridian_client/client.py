"""The client for threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from functools import partial
from time import sleep
from typing import Any, Self, cast, overload

import httpx2 as httpx

from . import calls
from .asked import to_asked
from .calls import Address, Call
from .errors import MeridianError
from .generated.models import (
    AddressSummary,
    AutonomousSystem,
    BatchError,
    GeolocationResult,
    SelectedResult,
    UsageStats,
)
from .known_answers import KnownAnswers, present
from .listing import Listing
from .retry import Retry
from .service import Service, no_answer, read_answer


class Meridian:
    """A client of one service, which threads may share. Calls raise MeridianError.

    `url` is the address of the service, `key` an API key. Each step of a request, such as
    connecting, may take `timeout` seconds. A failure that may pass is followed by up to `retries`
    further attempts; if the service asks to wait longer than `max_wait` seconds, the call fails at
    once. A list is located in up to `concurrency` batches at a time. The answers of up to `cache`
    networks are kept for `cache_seconds`; 0: none. `http` replaces the HTTP client, for example to
    use a proxy.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float = 10,
        retries: int = 3,
        max_wait: float = 60,
        concurrency: int = 2,
        cache: int = 10_000,
        cache_seconds: float = 3_600,
        http: httpx.Client | None = None,
    ) -> None:
        self._service = Service(url, key)
        self._timeout = timeout
        self._retry = Retry(retries, max_wait)
        self._concurrency = concurrency
        self._known = KnownAnswers(cache, cache_seconds)
        self._http = httpx.Client() if http is None else http

    def with_options(self, *, timeout: float, retries: int) -> Self:
        """The same client, with the same connections and kept answers, but these options."""
        other = copy(self)
        other._timeout = timeout
        other._retry = Retry(retries, self._retry.max_wait)
        return other

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @overload
    def locate(
        self,
        address: Address,
        *,
        fields: None = None,
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> GeolocationResult: ...

    @overload
    def locate(
        self,
        address: Address,
        *,
        fields: Sequence[str],
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> SelectedResult: ...

    def locate(
        self,
        address: Address,
        *,
        fields: Sequence[str] | None = None,
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> GeolocationResult | SelectedResult:
        """Locates an address. The result has no location if nobody knows where it is.

        `fields` are the only ones wanted, such as location.city. `include` adds what results lack
        by default: network, privacy or hostname. `lang` is the language of names.
        """
        parsed, asked = calls.to_address(address), to_asked(fields, include, lang)
        known = self._known.find(parsed, asked)
        if known is None:
            answer = self._send(calls.locate(parsed, self._known.to_ask(asked)))
            self._known.keep(parsed, asked, answer)
            known = present(answer, asked)
        return cast(GeolocationResult, known)

    @overload
    def me(
        self, *, fields: None = None, include: Sequence[str] = (), lang: str | None = None
    ) -> GeolocationResult: ...

    @overload
    def me(
        self, *, fields: Sequence[str], include: Sequence[str] = (), lang: str | None = None
    ) -> SelectedResult: ...

    def me(
        self,
        *,
        fields: Sequence[str] | None = None,
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> GeolocationResult | SelectedResult:
        """Locates the address from which this call comes."""
        call = calls.locate_caller(to_asked(fields, include, lang))
        return cast(GeolocationResult, self._send(call))

    @overload
    def locate_many(
        self,
        addresses: Iterable[Address],
        *,
        fields: None = None,
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> list[GeolocationResult | BatchError]: ...

    @overload
    def locate_many(
        self,
        addresses: Iterable[Address],
        *,
        fields: Sequence[str],
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> list[SelectedResult | BatchError]: ...

    def locate_many(
        self,
        addresses: Iterable[Address],
        *,
        fields: Sequence[str] | None = None,
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> list[GeolocationResult | BatchError] | list[SelectedResult | BatchError]:
        """Locates any number of addresses, in batches, and returns the results in their order.

        A text that is not an address has a BatchError in its place: the one with "error". If a
        batch fails, so does the call.
        """
        listing = Listing(addresses, to_asked(fields, include, lang), self._known)
        with ThreadPoolExecutor(self._concurrency) as pool:
            # Reading the outcomes raises the first error.
            deque(pool.map(partial(self._locate_batch, listing), listing.batches()), maxlen=0)
        return cast(list[GeolocationResult | BatchError], list(listing.results()))

    def summary(
        self, addresses: Iterable[Address], *, top: int | None = None, include: Sequence[str] = ()
    ) -> AddressSummary:
        """Counts up to 10,000 addresses by place and network.

        `top` is the length of each list, 10 by default. `include` may add privacy.
        """
        return cast(AddressSummary, self._send(calls.summarize(addresses, top, include)))

    def asn(
        self,
        system: int | str,
        *,
        family: int | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> AutonomousSystem:
        """Describes an autonomous system, such as 15169 or "AS15169".

        `family` is 4 or 6 to list only such prefixes, `limit` and `offset` choose a page of them.
        """
        call = calls.describe_system(system, family, limit, offset)
        return cast(AutonomousSystem, self._send(call))

    def usage(self) -> UsageStats:
        """Returns the requests of the key's owner."""
        return cast(UsageStats, self._send(calls.get_usage()))

    def _locate_batch(self, listing: Listing, batch: Sequence[str]) -> None:
        listing.add(batch, self._send(listing.call(batch)))

    def _send(self, call: Call) -> Any:
        attempts = 1
        while True:
            try:
                return self._attempt(call)
            except MeridianError as failure:
                pause = self._retry.pause(failure, attempts, repeatable=call.repeatable)
                if pause is None:
                    raise
            sleep(pause)
            attempts += 1

    def _attempt(self, call: Call) -> Any:
        request = self._service.request(self._http, call, self._timeout)
        try:
            # A redirect would carry the key to another host.
            response = self._http.send(request, follow_redirects=False)
        except httpx.RequestError as cause:
            raise no_answer(cause, self._service) from cause
        return read_answer(response, call)
