"""Middleware for Django."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from .client import Meridian
from .errors import MeridianError
from .generated.models import GeolocationResult, Location
from .visitor import Visitor, VisitorOptions, failed, to_visitor


class LocatedRequest(HttpRequest):
    """The type of a request after the middleware. None: not known."""

    location: Location | None
    geolocation: GeolocationResult | None


class LocationMiddleware:
    """Sets `location` and `geolocation` of each request.

    The setting MERIDIAN is a dict: `url` and `key` of the service, and fields of VisitorOptions.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        options = dict(settings.MERIDIAN)
        client = Meridian(options.pop("url"), options.pop("key"))
        self._get_response = get_response
        self._options = VisitorOptions(**options)
        self._client = client.with_options(timeout=self._options.timeout, retries=0)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        visitor = self._locate(request)
        vars(request).update(location=visitor.location, geolocation=visitor.geolocation)
        return self._get_response(request)

    def _locate(self, request: HttpRequest) -> Visitor:
        options = self._options
        header = None if options.header is None else request.headers.get(options.header)
        address = options.address(request.META.get("REMOTE_ADDR"), header)
        if address is None:
            return Visitor()
        try:
            result = self._client.locate(address, include=options.include, lang=options.lang)
        except MeridianError as error:
            return failed(error)
        return to_visitor(result)
