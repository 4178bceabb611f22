"""The requests that both clients send."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .addresses import IPAddress, parse_address
from .asked import Asked, refuse_text
from .errors import MeridianError

ADDRESS_ERROR = "Not an IPv4 or IPv6 address"

Address = str | IPAddress


@dataclass(frozen=True)
class Call:
    """A request. With a body it is a POST, else a GET."""

    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    # Whether a body without an error is the answer although its status is 404: nobody knows.
    may_be_unknown: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether the call may arrive twice. A list whose answer was lost would count twice."""
        return self.body is None


def locate(address: IPAddress, asked: Asked) -> Call:
    return Call(f"/v1/ip/{address}", asked.query(), may_be_unknown=True)


def locate_caller(asked: Asked) -> Call:
    return Call("/v1/ip/me", asked.query(), may_be_unknown=True)


def locate_batch(texts: Sequence[str], asked: Asked) -> Call:
    return Call("/v1/ip/batch", body={"ips": texts, **asked.body()})


def summarize(addresses: Iterable[Address], top: int | None, include: Sequence[str]) -> Call:
    refuse_text(addresses=addresses, include=include)
    body = {"ips": [str(address) for address in addresses], "top": top, "include": include}
    return Call("/v1/ip/summary", body={name: value for name, value in body.items() if value})


def describe_system(
    system: int | str, family: int | None, limit: int | None, offset: int | None
) -> Call:
    text = str(system).upper()
    number = text.removeprefix("ASN") if text.startswith("ASN") else text.removeprefix("AS")
    halves = number.split(".", 1) if isinstance(system, str) else [number]
    if not all(half.isascii() and half.isdigit() for half in halves):
        raise MeridianError("BAD_REQUEST", "Not the number of an autonomous system", 400)
    options = {"family": family, "limit": limit, "offset": offset}
    query = {name: str(value) for name, value in options.items() if value is not None}
    return Call(f"/v1/asn/{number}", query)


def get_usage() -> Call:
    return Call("/v1/account/me/usage")


def to_address(address: Address) -> IPAddress:
    """Raises the error of the API for other texts: as part of a path they could mean another."""
    parsed = parse_address(str(address))
    if parsed is None:
        raise MeridianError("BAD_REQUEST", ADDRESS_ERROR, 400)
    return parsed
