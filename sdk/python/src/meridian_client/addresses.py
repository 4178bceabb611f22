"""Reading and writing addresses."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

IPAddress = IPv4Address | IPv6Address


def parse_address(text: str) -> IPAddress | None:
    """Returns None for other texts, and for addresses with a zone id, such as fe80::1%eth0."""
    try:
        return None if "%" in text else ip_address(text)
    except ValueError:
        return None


def unmapped(address: IPAddress) -> IPAddress:
    """The IPv4 address in ::ffff:a.b.c.d, which servers for both versions report; else the same."""
    inner = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if inner is None else inner


def canonical(address: IPAddress) -> str:
    """The address as the service writes it (RFC 5952)."""
    plain = unmapped(address)
    return str(address) if plain is address else f"::ffff:{plain}"
