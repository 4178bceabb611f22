"""Sets the credential and the address of each schemathesis request, and counts the answers.

The rate limits of the service stay on, so requests come from many addresses and credentials take
turns. A request for a key, site or tax id of a user carries a credential of that user.
"""

import atexit
import itertools
import json
import os
from collections import Counter, defaultdict

import schemathesis

SETTINGS = json.loads(os.environ["CONFORMANCE"])
HEADER = SETTINGS["header"]
RETURNS_OWNED = {"createKey", "listKeys", "createSite", "listSites", "addTaxId"}

# The numbers of the users by credential. Revoked keys are removed, so that they are not used again.
users = {text: n for n, own in enumerate(SETTINGS["credentials"]) for text in own.values()}
# Texts by the ids of keys.
texts = {id: text for own in SETTINGS["credentials"] for id, text in own.items()}
turns = itertools.count()
# From three networks that the small test databases contain, and one that they do not.
addresses = itertools.cycle(
    f"{network}.{host}" for host in range(256) for network in ("81.2.69", "8.8.8", "9.0.0", "10.0.0")
)
# The numbers of users by the ids of their keys, sites and tax ids, and the names of the sites.
owners = {}
statuses = defaultdict(Counter)


@schemathesis.auth(refresh_interval=None)
class Turns:
    """Picks a credential of the user who owns what the request names, else the next one."""

    def get(self, case, context):
        values = [*(case.path_parameters or {}).values(), *(case.query or {}).values()]
        for name in (value for value in values if isinstance(value, str)):
            own = [text for text, user in users.items() if user == owners.get(name)]
            if own:
                return own[0]
        live = list(users)
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
        users.pop(texts.get(case.path_parameters["keyId"]), None)
    if operation in RETURNS_OWNED and response.status_code < 300:
        remember(response)


def remember(response):
    """Stores the owner of each thing in the answer. New keys with all scopes join the turns."""
    owner = users[response.request.headers[HEADER]]
    body = response.json()
    for thing in body if isinstance(body, list) else [body]:
        owners[thing["id"]] = owner
        if "userId" in thing:
            owners[thing["name"]] = owner
        elif HEADER == "X-API-Key" and thing.get("rawKey", "").startswith("sk_"):
            if thing["scopes"] is None:
                texts[thing["id"]] = thing["rawKey"]
                users[thing["rawKey"]] = owner


@atexit.register
def report():
    with open(SETTINGS["report"], "w", encoding="utf-8") as file:
        json.dump(statuses, file)
