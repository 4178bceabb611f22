"""Prints what free lists say about addresses as JSON, by Python's ipaddress module.

Arguments: the folder of the lists, each in its owner's form in a file named after its id, and the number
of random addresses. The first and last address of each network, and those just outside, are added.
"""

import csv
import ipaddress
import json
import random
import sys
from pathlib import Path

# Id, flag, service and source, in order of priority
LISTS = [
    ("aws", "hosting", "Amazon AWS", "aws"),
    ("google-cloud", "hosting", "Google Cloud", "google"),
    ("google", "hosting", "Google", "google"),
    ("azure", "hosting", "Microsoft Azure", "azure"),
    ("oracle", "hosting", "Oracle Cloud", "oracle"),
    ("cloudflare-4", "hosting", "Cloudflare", "cloudflare"),
    ("cloudflare-6", "hosting", "Cloudflare", "cloudflare"),
    ("fastly", "hosting", "Fastly", "fastly"),
    ("digitalocean", "hosting", "DigitalOcean", "digitalocean"),
    ("linode", "hosting", "Linode", "linode"),
    ("icloud", "relay", "iCloud Private Relay", "apple"),
    ("tor", "tor", None, "tor"),
    ("vpn-4", "vpn", None, "x4bnet"),
    ("vpn-6", "vpn", None, "x4bnet"),
    ("datacenter-4", "hosting", None, "x4bnet"),
    ("datacenter-6", "hosting", None, "x4bnet"),
]


def entries(name, text):
    """The networks in the text, which has the form of the list."""
    if name == "aws":
        data = json.loads(text)
        yield from (one["ip_prefix"] for one in data["prefixes"])
        yield from (one["ipv6_prefix"] for one in data["ipv6_prefixes"])
    elif name in ("google", "google-cloud"):
        for one in json.loads(text)["prefixes"]:
            yield one.get("ipv4Prefix") or one["ipv6Prefix"]
    elif name == "azure":
        for tag in json.loads(text)["values"]:
            yield from tag["properties"]["addressPrefixes"]
    elif name == "oracle":
        for region in json.loads(text)["regions"]:
            yield from (one["cidr"] for one in region["cidrs"])
    elif name == "fastly":
        data = json.loads(text)
        yield from data["addresses"] + data["ipv6_addresses"]
    else:
        for row in csv.reader(text.splitlines()):
            if row and not row[0].startswith("#"):
                yield row[0]


def read(folder):
    """The positions of the lists that have a network, by version, length of the prefix, and network."""
    found = {4: {}, 6: {}}
    for at, (name, *_) in enumerate(LISTS):
        for entry in entries(name, (folder / f"list-{name}").read_text()):
            network = ipaddress.ip_network(entry)
            by_length = found[network.version].setdefault(network.prefixlen, {})
            by_length.setdefault(int(network.network_address), set()).add(at)
    return found


def look_up(found, address):
    """What the lists say: flags of all, and the service of the narrowest network."""
    lists, service = set(), None
    number = int(address)
    for length in sorted(found[address.version]):
        rest = address.max_prefixlen - length
        own = found[address.version][length].get(number >> rest << rest, ())
        lists |= set(own)
        service = next((LISTS[at][2] for at in sorted(own) if LISTS[at][2]), service)
    if not lists:
        return None
    rows = [LISTS[at] for at in sorted(lists)]
    privacy = {flag: True for _, flag, _, _ in rows}
    if service:
        privacy["service"] = service
    return {"privacy": privacy, "sources": list(dict.fromkeys(row[3] for row in rows))}


def boundaries(found):
    for version, make in ((4, ipaddress.IPv4Address), (6, ipaddress.IPv6Address)):
        width = 32 if version == 4 else 128
        for length, networks in found[version].items():
            for first in networks:
                last = first + 2 ** (width - length) - 1
                yield from (make(n) for n in (first - 1, first, last, last + 1))


def random_addresses(found, count):
    """Anywhere, and inside networks of the lists."""
    chooser = random.Random(20261125)
    networks = [
        (version, first, length)
        for version in (4, 6)
        for length, by_address in found[version].items()
        for first in by_address
    ]
    for at in range(count):
        if at % 2 == 0:
            yield ipaddress.IPv4Address(chooser.getrandbits(32))
            continue
        version, first, length = chooser.choice(networks)
        width = 32 if version == 4 else 128
        make = ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address
        yield make(first + chooser.getrandbits(width - length) if length < width else first)


found = read(Path(sys.argv[1]))
addresses = set(boundaries(found)) | set(random_addresses(found, int(sys.argv[2])))
json.dump({str(address): look_up(found, address) for address in addresses}, sys.stdout)
