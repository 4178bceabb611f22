"""Middleware for ASGI applications, such as those of FastAPI and Starlette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from .async_client import AsyncMeridian
from .errors import MeridianError
from .visitor import Visitor, VisitorOptions, failed, to_visitor

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class LocationMiddleware:
    """Sets `request.state.location` and `request.state.geolocation` of each request."""

    def __init__(
        self, app: App, *, client: AsyncMeridian, options: VisitorOptions | None = None
    ) -> None:
        self._app = app
        self._options = VisitorOptions() if options is None else options
        self._client = client.with_options(timeout=self._options.timeout, retries=0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            visitor = await self._locate(scope)
            # request.state of Starlette
            state = {"location": visitor.location, "geolocation": visitor.geolocation}
            scope["state"] = {**scope.get("state", {}), **state}
        await self._app(scope, receive, send)

    async def _locate(self, scope: Scope) -> Visitor:
        options = self._options
        peer, _ = scope.get("client") or (None, 0)
        header = None if options.header is None else _header(scope, options.header)
        address = options.address(peer, header)
        if address is None:
            return Visitor()
        try:
            result = await self._client.locate(address, include=options.include, lang=options.lang)
        except MeridianError as error:
            return failed(error)
        return to_visitor(result)


def _header(scope: Scope, name: str) -> str | None:
    """The value of a header, all its lines as one; None: there is none."""
    wanted = name.lower().encode()
    lines = [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == wanted]
    return ", ".join(lines) if lines else None
