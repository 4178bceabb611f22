"""Answers kept by the network that they are about."""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from ipaddress import ip_network
from typing import Any

from .addresses import IPAddress, canonical
from .asked import Asked, without_prefix

# Version and length of a network, its first bits, and what was asked about it.
Key = tuple[int, int, int, Asked]


class KnownAnswers:
    """Keeps the answers of up to `size` networks for `seconds`. The least recently used go first.

    For that it asks for network.prefix, and hides it from callers who do not. Threads may share it.
    """

    def __init__(
        self, size: int, seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._size = size
        self._seconds = seconds
        self._now = now
        # The answer as JSON, parsed for each caller, who may change it; and when it expires.
        self._entries: OrderedDict[Key, tuple[str, float]] = OrderedDict()
        # The lengths of the networks by version.
        self._lengths: dict[int, set[int]] = {4: set(), 6: set()}
        self._lock = threading.Lock()

    def to_ask(self, asked: Asked) -> Asked:
        """What to ask of the service, so that the answer can be kept."""
        return asked.with_prefix() if self._keeps(asked) else asked

    def find(self, address: IPAddress, asked: Asked) -> dict[str, Any] | None:
        """Returns a result as if the service had answered, None if no answer is known."""
        with self._lock:
            text = self._find(address, asked)
        if text is None:
            return None
        result = present(json.loads(text), asked)
        if "value" in result.get("query", {}):
            result["query"]["value"] = canonical(address)
        return result

    def keep(self, address: IPAddress, asked: Asked, answer: Mapping[str, Any]) -> None:
        """Keeps the service's answer to `to_ask(asked)`, if other addresses have the same."""
        prefix = answer.get("network", {}).get("prefix")
        # Over the monthly cap, answers lack fields that they have again next month.
        is_degraded = answer.get("meta", {}).get("degraded", False)
        if prefix is None or is_degraded or not self._keeps(asked):
            return
        network = ip_network(prefix)
        if address not in network:
            return
        entry = json.dumps(answer), self._now() + self._seconds
        with self._lock:
            self._lengths[network.version].add(network.prefixlen)
            key = _key(address, network.prefixlen, asked)
            self._entries[key] = entry
            self._entries.move_to_end(key)
            if len(self._entries) > self._size:
                self._entries.popitem(last=False)

    def _keeps(self, asked: Asked) -> bool:
        """Hostnames differ within a network."""
        return self._size > 0 and "hostname" not in (*asked.include, *(asked.fields or ()))

    def _find(self, address: IPAddress, asked: Asked) -> str | None:
        for length in self._lengths[address.version]:
            key = _key(address, length, asked)
            if key not in self._entries:
                continue
            text, expires = self._entries[key]
            if self._now() < expires:
                self._entries.move_to_end(key)
                return text
            del self._entries[key]
        return None


def present(answer: dict[str, Any], asked: Asked) -> dict[str, Any]:
    """The service's answer with only what the caller asked for."""
    return answer if asked.keeps_prefix else without_prefix(answer)


def _key(address: IPAddress, length: int, asked: Asked) -> Key:
    return address.version, length, int(address) >> (address.max_prefixlen - length), asked
