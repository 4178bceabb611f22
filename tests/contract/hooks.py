"""Who asks what schemathesis asks, and from where; and a count of what came back.

Limits are part of the service and stay as they are: requests come from many addresses, and
credentials take turns. What belongs to a user is named by that user.
"""

import atexit
import itertools
import json
import os
from collections import Counter, defaultdict

import schemathesis

SETTINGS = json.loads(os.environ["CONFORMANCE"])
HEADER = SETTINGS["header"]
TELL_OF_THINGS = {"createKey", "listKeys", "createSite", "listSites"}

# By id of the key, so that one that is revoked asks no more.
credentials = dict(SETTINGS["credentials"])
turns = itertools.count()
# Of networks that the small databases of the tests know, and of one that they do not.
addresses = itertools.cycle(
    f"{network}.{host}" for host in range(256) for network in ("81.2.69", "8.8.8", "9.0.0", "10.0.0")
)
# Sessions by the ids of the keys and sites of their users, and the names of the sites.
owners = {}
statuses = defaultdict(Counter)


@schemathesis.auth(refresh_interval=None)
class Turns:
    """The session of the user who has what path or query name, else the next credential."""

    def get(self, case, context):
        named = [*(case.path_parameters or {}).values(), *(case.query or {}).values()]
        for name in named:
            if isinstance(name, str) and name in owners:
                return owners[name]
        live = list(credentials.values())
        return live[next(turns) % len(live)]

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), HEADER: data}


@schemathesis.hook
def before_call(context, case, kwargs):
    case.headers = {**(case.headers or {}), "X-Forwarded-For": next(addresses)}


@schemathesis.hook
def after_call(context, case, response):
    if case.method.upper() != case.operation.method.upper():
        return
    operation = case.operation.definition.raw["operationId"]
    statuses[operation][response.status_code] += 1
    if operation == "revokeKey" and response.status_code == 200:
        credentials.pop(case.path_parameters["keyId"], None)
    if operation in TELL_OF_THINGS and response.status_code < 300:
        remember(response)


def remember(response):
    """Keeps whose the things of the answer are. A new key that may do anything takes turns, too."""
    body = response.json()
    for thing in body if isinstance(body, list) else [body]:
        if HEADER == "Authorization":
            owners[thing["id"]] = response.request.headers[HEADER]
            if "userId" in thing:
                owners[thing["name"]] = response.request.headers[HEADER]
        elif thing.get("rawKey", "").startswith("sk_") and thing["scopes"] is None:
            credentials[thing["id"]] = thing["rawKey"]


@atexit.register
def report():
    with open(SETTINGS["report"], "w", encoding="utf-8") as file:
        json.dump(statuses, file)
