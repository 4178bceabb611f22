"""The client for asyncio."""

from __future__ import annotations

import asyncio
from asyncio import sleep
from collections.abc import Iterable, Sequence
from copy import copy
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


class AsyncMeridian:
    """A client of one service for asyncio, with the options and calls of Meridian."""

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
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self._service = Service(url, key)
        self._timeout = timeout
        self._retry = Retry(retries, max_wait)
        self._concurrency = concurrency
        self._known = KnownAnswers(cache, cache_seconds)
        self._http = httpx.AsyncClient() if http is None else http

    def with_options(self, *, timeout: float, retries: int) -> Self:
        """The same client, with the same connections and kept answers, but these options."""
        other = copy(self)
        other._timeout = timeout
        other._retry = Retry(retries, self._retry.max_wait)
        return other

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @overload
    async def locate(
        self,
        address: Address,
        *,
        fields: None = None,
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> GeolocationResult: ...

    @overload
    async def locate(
        self,
        address: Address,
        *,
        fields: Sequence[str],
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> SelectedResult: ...

    async def locate(
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
            answer = await self._send(calls.locate(parsed, self._known.to_ask(asked)))
            self._known.keep(parsed, asked, answer)
            known = present(answer, asked)
        return cast(GeolocationResult, known)

    @overload
    async def me(
        self, *, fields: None = None, include: Sequence[str] = (), lang: str | None = None
    ) -> GeolocationResult: ...

    @overload
    async def me(
        self, *, fields: Sequence[str], include: Sequence[str] = (), lang: str | None = None
    ) -> SelectedResult: ...

    async def me(
        self,
        *,
        fields: Sequence[str] | None = None,
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> GeolocationResult | SelectedResult:
        """Locates the address from which this call comes."""
        call = calls.locate_caller(to_asked(fields, include, lang))
        return cast(GeolocationResult, await self._send(call))

    @overload
    async def locate_many(
        self,
        addresses: Iterable[Address],
        *,
        fields: None = None,
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> list[GeolocationResult | BatchError]: ...

    @overload
    async def locate_many(
        self,
        addresses: Iterable[Address],
        *,
        fields: Sequence[str],
        include: Sequence[str] = (),
        lang: str | None = None,
    ) -> list[SelectedResult | BatchError]: ...

    async def locate_many(
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
        slots = asyncio.Semaphore(self._concurrency)

        async def locate_batch(batch: Sequence[str]) -> None:
            async with slots:
                listing.add(batch, await self._send(listing.call(batch)))

        tasks = [asyncio.create_task(locate_batch(batch)) for batch in listing.batches()]
        try:
            await asyncio.gather(*tasks)
        finally:
            # If one fails, the others stop.
            for task in tasks:
                task.cancel()
        return cast(list[GeolocationResult | BatchError], list(listing.results()))

    async def summary(
        self, addresses: Iterable[Address], *, top: int | None = None, include: Sequence[str] = ()
    ) -> AddressSummary:
        """Counts up to 10,000 addresses by place and network.

        `top` is the length of each list, 10 by default. `include` may add privacy.
        """
        return cast(AddressSummary, await self._send(calls.summarize(addresses, top, include)))

    async def asn(
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
        return cast(AutonomousSystem, await self._send(call))

    async def usage(self) -> UsageStats:
        """Returns the requests of the key's owner."""
        return cast(UsageStats, await self._send(calls.get_usage()))

    async def _send(self, call: Call) -> Any:
        attempts = 1
        while True:
            try:
                return await self._attempt(call)
            except MeridianError as failure:
                pause = self._retry.pause(failure, attempts, repeatable=call.repeatable)
                if pause is None:
                    raise
            await sleep(pause)
            attempts += 1

    async def _attempt(self, call: Call) -> Any:
        request = self._service.request(self._http, call, self._timeout)
        try:
            # A redirect would carry the key to another host.
            response = await self._http.send(request, follow_redirects=False)
        except httpx.RequestError as cause:
            raise no_answer(cause, self._service) from cause
        return read_answer(response, call)
