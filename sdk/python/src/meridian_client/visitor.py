"""Whom a request comes from, for middleware."""

from __future__ import annotations

import ipaddress
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .addresses import IPAddress, parse_address, unmapped
from .errors import MeridianError
from .generated.models import GeolocationResult, Location
from .generated.special_purpose import SPECIAL_PURPOSE

log = logging.getLogger("meridian_client")


@dataclass(frozen=True)
class VisitorOptions:
    """How middleware locates visitors.

    `header` is set by your proxy and holds the visitor's address, as X-Forwarded-For does; of
    several the last one counts, since clients can send the others. A request waits for its location
    at most `timeout` seconds in each step. `locate_private` is for services that know your own
    networks.
    """

    header: str | None = None
    include: Sequence[str] = ()
    lang: str | None = None
    timeout: float = 1
    locate_private: bool = False

    def address(self, peer: str | None, header: str | None) -> IPAddress | None:
        """Returns the address to locate, None if there is none.

        `peer` is the address of the connection, `header` the value of the trusted header.
        """
        text = (peer or "") if header is None else _without_port(header.rpartition(",")[2].strip())
        parsed = parse_address(text)
        # A server that listens on IPv4 and IPv6 reports IPv4 addresses as IPv6.
        address = None if parsed is None else unmapped(parsed)
        if address is None or not (self.locate_private or _is_public(address)):
            return None
        return address


@dataclass(frozen=True)
class Visitor:
    """What middleware adds to a request: the location, and the whole result. None: not known."""

    location: Location | None = None
    geolocation: GeolocationResult | None = None


def to_visitor(result: GeolocationResult) -> Visitor:
    return Visitor(result.get("location"), result)


def failed(error: MeridianError) -> Visitor:
    """A look-up that fails does not fail the request."""
    log.warning("Cannot locate a visitor: %s", error)
    return Visitor()


_SPECIAL = sorted(
    ((ipaddress.ip_network(network), is_public) for network, is_public in SPECIAL_PURPOSE),
    key=lambda special: -special[0].prefixlen,
)


def _is_public(address: IPAddress) -> bool:
    """Whether a host on the Internet may have the address. The narrowest network counts."""
    return next((is_public for network, is_public in _SPECIAL if address in network), True)


def _without_port(text: str) -> str:
    """Some proxies write 192.0.2.1:1234 or [2001:db8::1]:1234."""
    found = re.fullmatch(r"\[([^]]*)\](?::\d+)?|([\d.]+):\d+", text)
    return text if found is None else found[1] or found[2]
