"""Prints the prefixes and addresses of 200 autonomous systems as JSON, by Python's ipaddress module.

Arguments: CSV files of first,last,number,organization. The systems are the largest, the smallest and
some at random, by their number of rows.
"""

import csv
import ipaddress
import json
import random
import sys
from collections import defaultdict

LARGEST = 20
SMALLEST = 60
ALL = 200
# Teredo addresses are looked up by the IPv4 address inside.
WITHOUT_RECORDS = ipaddress.ip_network("2001::/32")


def read(paths):
    """The ranges of each system. Where rows overlap, the later one applies."""
    rows = []
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            for first, last, number, _ in csv.reader(file):
                row = [ipaddress.ip_address(first), ipaddress.ip_address(last), int(number)]
                if rows and rows[-1][0].version == row[0].version and rows[-1][1] >= row[0]:
                    assert rows[-1][0] < row[0] and rows[-1][1] <= row[1], row
                    rows[-1][1] = row[0] - 1
                rows.append(row)
    ranges = defaultdict(list)
    for first, last, number in rows:
        ranges[number].append((first, last))
    return ranges


def choose(ranges):
    by_size = sorted(ranges, key=lambda asn: (-len(ranges[asn]), asn))
    others = by_size[LARGEST:-SMALLEST]
    middle = random.Random(20260115).sample(others, ALL - LARGEST - SMALLEST)
    return [*by_size[:LARGEST], *middle, *by_size[-SMALLEST:]]


def without_teredo(network):
    if network.version == 4 or not network.overlaps(WITHOUT_RECORDS):
        return [network]
    if network.subnet_of(WITHOUT_RECORDS):
        return []
    return list(network.address_exclude(WITHOUT_RECORDS))


def family(ranges, version):
    networks = [
        part
        for first, last in ranges
        if first.version == version
        for network in ipaddress.summarize_address_range(first, last)
        for part in without_teredo(network)
    ]
    collapsed = list(ipaddress.collapse_addresses(networks))
    return {
        "prefixes": [str(network) for network in collapsed],
        "addresses": str(sum(network.num_addresses for network in collapsed)),
        "ends": [str(end) for network in collapsed for end in (network[0], network[-1])],
    }


ranges = read(sys.argv[1:])
ranges.pop(0, None)
json.dump(
    [
        {"asn": asn, "ipv4": family(ranges[asn], 4), "ipv6": family(ranges[asn], 6)}
        for asn in choose(ranges)
    ],
    sys.stdout,
)
