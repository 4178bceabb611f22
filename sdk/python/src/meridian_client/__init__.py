"""Client of Meridian, the self-hosted IP geolocation API."""

from .async_client import AsyncMeridian
from .client import Meridian
from .errors import MeridianError
from .generated.models import (
    AddressSummary,
    AutonomousSystem,
    BatchError,
    GeolocationResult,
    Location,
    SelectedResult,
    UsageStats,
)
from .version import VERSION as __version__
from .visitor import VisitorOptions

__all__ = [
    "AddressSummary",
    "AsyncMeridian",
    "AutonomousSystem",
    "BatchError",
    "GeolocationResult",
    "Location",
    "Meridian",
    "MeridianError",
    "SelectedResult",
    "UsageStats",
    "VisitorOptions",
    "__version__",
]
