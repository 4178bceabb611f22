"""Prints what geofeeds say about addresses as JSON, by Python's csv and ipaddress modules (RFC 8805, RFC 9632).

Arguments: a JSON file with a list of [path, blocks] for each feed, a JSON list of the codes of countries, and
the number of random addresses. The first and last address of each entry and block, and those just outside, are
added.
"""

import csv
import ipaddress
import json
import random
import re
import sys
import unicodedata
from pathlib import Path

feeds = json.loads(Path(sys.argv[1]).read_text())
COUNTRIES = set(json.loads(Path(sys.argv[2]).read_text()))


def parse(line):
    """The network of a line, and what it states: None means no location. Raises ValueError if it is bad."""
    cells = [cell.strip() for cell in next(csv.reader([line], strict=True))] + [""] * 4
    prefix, country, region, city = cells[:4]
    network = ipaddress.ip_network(prefix)
    country, region = country.upper(), region.upper()
    if country in ("", "ZZ") and not region and not city:
        return network, None
    if region and not re.fullmatch(r"[A-Z]{2}-[A-Z0-9]{1,3}", region):
        raise ValueError("region")
    country = country or region[:2]
    if country not in COUNTRIES or (region and region[:2] != country):
        raise ValueError("country")
    if any(unicodedata.category(letter) == "Cc" for letter in city):
        raise ValueError("city")
    return network, [country, region or None, city or None]


def is_quoted_well(line):
    """Whether each quoted cell is quoted from its start to its end, as RFC 4180 says."""
    return re.fullmatch(r'("([^"]|"")*"|[^",]*)(,("([^"]|"")*"|[^",]*))*', line) is not None


def read(path, blocks):
    """The entries within the blocks by network, and how many are outside or bad."""
    entries, seen, outside, bad = {}, set(), 0, 0
    text = Path(path).read_bytes().decode("utf-8-sig")
    for line in re.split(r"\r\n|\r|\n", text):
        line = line.split("#")[0].strip()
        if not line:
            continue
        try:
            if not is_quoted_well(line):
                raise ValueError("quote")
            network, place = parse(line)
            if network in seen:
                raise ValueError("duplicate")
        except (ValueError, csv.Error):
            bad += 1
            continue
        seen.add(network)
        if any(network.version == block.version and network.subnet_of(block) for block in blocks):
            entries[network] = place
        else:
            outside += 1
    return entries, outside, bad


def by_length(networks):
    """A dict of networks by version and length of the prefix, narrowest first, then by first address."""
    found = {4: {}, 6: {}}
    for network in sorted(networks, key=lambda one: -one.prefixlen):
        same = found[network.version].setdefault(network.prefixlen, {})
        same[int(network.network_address)] = networks[network]
    return found


MISSING = object()


def narrowest(found, address):
    """What belongs to the narrowest network that contains the address; MISSING if there is none."""
    number = int(address)
    for length, same in found[address.version].items():
        rest = address.max_prefixlen - length
        value = same.get(number >> rest << rest, MISSING)
        if value is not MISSING:
            return value
    return MISSING


owners = {}
read_feeds = []
for at, (path, texts) in enumerate(feeds):
    blocks = [ipaddress.ip_network(text) for text in texts]
    read_feeds.append(read(path, blocks))
    owners.update({block: at for block in blocks})
blocks_by_length = by_length(owners)
entries_by_length = [by_length(entries) for entries, _, _ in read_feeds]


def look_up(address):
    """"no place", the fields of the place, or None if the feeds state nothing."""
    owner = narrowest(blocks_by_length, address)
    if owner is MISSING:
        return None
    place = narrowest(entries_by_length[owner], address)
    if place is MISSING:
        return None
    return "no place" if place is None else place


def boundaries(networks):
    for network in networks:
        make = ipaddress.IPv4Address if network.version == 4 else ipaddress.IPv6Address
        first, last = int(network.network_address), int(network.broadcast_address)
        most = 2**network.max_prefixlen - 1
        yield from (make(n) for n in (first - 1, first, last, last + 1) if 0 <= n <= most)


def random_addresses(networks, count):
    """Different addresses anywhere, and in and near networks of the feeds."""
    chooser = random.Random(20261125)
    found = set()
    while len(found) < count:
        network = chooser.choice(networks)
        make = ipaddress.IPv4Address if network.version == 4 else ipaddress.IPv6Address
        kind = len(found) % 8
        bits = network.max_prefixlen
        if kind > 0:
            bits -= network.prefixlen - (2 if kind == 1 else 0)
        first = int(network.network_address) >> bits << bits
        found.add(make(first | (chooser.getrandbits(bits) if bits > 0 else 0)))
    return found


networks = [*owners, *(network for entries, _, _ in read_feeds for network in entries)]
addresses = set(boundaries(networks)) | random_addresses(networks, int(sys.argv[3]))
json.dump(
    {
        "counts": [[len(entries), outside, bad] for entries, outside, bad in read_feeds],
        "found": {str(address): look_up(address) for address in addresses},
    },
    sys.stdout,
)
