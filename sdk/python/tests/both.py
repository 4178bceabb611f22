"""Runs the same test with both clients."""

from __future__ import annotations

import asyncio
from typing import Any

from meridian_client import AsyncMeridian, Meridian

KINDS = (Meridian, AsyncMeridian)


def call(kind: type[Any], url: str, key: str, method: str, *args: Any, **options: Any) -> Any:
    """Calls a method of a new client. `client` in the options are those of the client."""
    settings = options.pop("client", {})
    if kind is Meridian:
        with Meridian(url, key, **settings) as client:
            return getattr(client, method)(*args, **options)

    async def run() -> Any:
        async with AsyncMeridian(url, key, **settings) as client:
            return await getattr(client, method)(*args, **options)

    return asyncio.run(run())
