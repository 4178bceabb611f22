"""What a caller asks of an answer beyond the default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

PREFIX = "network.prefix"


@dataclass(frozen=True)
class Asked:
    """The options of a look-up, as the API names them."""

    fields: tuple[str, ...] | None = None
    include: tuple[str, ...] = ()
    lang: str | None = None

    def query(self) -> dict[str, str]:
        """The options as the query of a GET."""
        return {
            name: value if isinstance(value, str) else ",".join(value)
            for name, value in self.body().items()
        }

    def body(self) -> dict[str, Any]:
        """The options as fields of a JSON body."""
        options = {"fields": self.fields, "include": self.include, "lang": self.lang}
        return {name: value for name, value in options.items() if value}

    @property
    def keeps_prefix(self) -> bool:
        """Whether the answer has network.prefix where it is known."""
        if self.fields is None:
            return "network" in self.include
        return PREFIX in self.fields or ("network" in self.fields and "network" in self.include)

    def with_prefix(self) -> Asked:
        """The same, and network.prefix."""
        if self.keeps_prefix:
            return self
        if self.fields is None:
            return replace(self, include=(*self.include, "network"))
        return replace(self, fields=(*self.fields, PREFIX))


def to_asked(fields: Sequence[str] | None, include: Sequence[str], lang: str | None) -> Asked:
    """Without fields all are asked for."""
    refuse_text(fields=fields, include=include)
    return Asked(tuple(fields) if fields else None, tuple(include), lang)


def refuse_text(**lists: object) -> None:
    """Raises TypeError for a text where a list of texts is expected: it would be split."""
    for name, value in lists.items():
        if isinstance(value, str):
            raise TypeError(f"{name} must be a list of texts, such as [{value[:100]!r}]")


def without_prefix(result: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as it is if network.prefix is not asked for."""
    network = {name: value for name, value in result.get("network", {}).items() if name != "prefix"}
    rest = {name: value for name, value in result.items() if name != "network"}
    return {**rest, "network": network} if network else rest
