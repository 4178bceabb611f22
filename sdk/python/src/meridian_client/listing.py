"""Locating a list of any length in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any

from .addresses import parse_address
from .asked import Asked, refuse_text
from .calls import ADDRESS_ERROR, Address, Call, locate_batch
from .errors import MeridianError
from .known_answers import KnownAnswers, present

BATCH_SIZE = 1_000
# The service shows as much of a text that is not an address.
SHOWN_CHARACTERS = 100


class Listing:
    """The addresses of a list and what is known about them: each different one is located once."""

    def __init__(self, addresses: Iterable[Address], asked: Asked, known: KnownAnswers) -> None:
        refuse_text(addresses=addresses)
        self._texts = [str(address) for address in addresses]
        self._asked = asked
        self._known = known
        self._items: dict[str, dict[str, Any]] = {}

    def batches(self) -> list[list[str]]:
        """Returns the addresses that the service has to locate."""
        texts = [text for text in dict.fromkeys(self._texts) if self._is_open(text)]
        return [texts[start : start + BATCH_SIZE] for start in range(0, len(texts), BATCH_SIZE)]

    def call(self, batch: Sequence[str]) -> Call:
        return locate_batch(batch, self._known.to_ask(self._asked))

    def add(self, batch: Sequence[str], answer: Any) -> None:
        """Takes the service's answer to `call(batch)`."""
        results = answer.get("results", []) if isinstance(answer, dict) else []
        if len(results) != len(batch):
            message = f"The answer has {len(results)} results for {len(batch)} addresses"
            raise MeridianError("UNEXPECTED_ANSWER", message, 200)
        for text, result in zip(batch, results, strict=True):
            address = parse_address(text)
            if address is not None and "error" not in result:
                self._known.keep(address, self._asked, result)
                result = present(result, self._asked)
            self._items[text] = result

    def results(self) -> Iterator[dict[str, Any]]:
        """Yields the results in the order of the addresses, a copy for each repeated one."""
        given = set()
        for text in self._texts:
            item = self._items[text]
            yield deepcopy(item) if text in given else item
            given.add(text)

    def _is_open(self, text: str) -> bool:
        """Whether the service has to locate the text. If not, its result is added."""
        address = parse_address(text)
        item = _refusal(text) if address is None else self._known.find(address, self._asked)
        if item is not None:
            self._items[text] = item
        return item is None


def _refusal(text: str) -> dict[str, Any]:
    """What the service answers for a text that is not an address."""
    return {
        "query": {"type": "ip", "value": text[:SHOWN_CHARACTERS]},
        "error": {"code": "BAD_REQUEST", "message": ADDRESS_ERROR},
    }
