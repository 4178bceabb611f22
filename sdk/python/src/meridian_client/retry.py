"""When a failed call is repeated."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .errors import MeridianError

FIRST_PAUSE_SECONDS = 0.5
# Spreads clients that wait for the same moment.
JITTER_SECONDS = 0.5
# The service has not done what was asked.
REFUSED = (429, 503)
# A proxy does not know whether the service has.
UNCERTAIN = (502, 504)


@dataclass(frozen=True)
class Retry:
    """A call is repeated at most `retries` times, each time after at most `max_wait` seconds."""

    retries: int
    max_wait: float

    def pause(self, failure: MeridianError, attempts: int, *, repeatable: bool) -> float | None:
        """Returns how many seconds to wait before the next attempt, None to give up.

        `attempts` were made so far. `repeatable` is whether the call may arrive twice.
        """
        if attempts > self.retries or not _is_temporary(failure, repeatable=repeatable):
            return None
        if failure.retry_after is None:
            longest = min(self.max_wait, FIRST_PAUSE_SECONDS * 2.0 ** (attempts - 1))
            return longest * random.uniform(0.5, 1)
        if failure.retry_after > self.max_wait:
            return None
        return failure.retry_after + random.uniform(0, JITTER_SECONDS)


def _is_temporary(failure: MeridianError, *, repeatable: bool) -> bool:
    if failure.status in REFUSED:
        return True
    is_uncertain = failure.status in UNCERTAIN or failure.code in ("NETWORK_ERROR", "TIMEOUT")
    return repeatable and is_uncertain
