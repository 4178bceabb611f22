/**
 * Whether hosts on the Internet may have the addresses of a network: the column "Globally Reachable" of the
 * registries. `inside`: if they may have the IPv4 address that is inside.
 */
export type Reachable = boolean | 'inside'

/** When the registries were last updated, as they say. */
export const REGISTRIES_DATE = '2025-10-09'

/**
 * IANA's registries of special-purpose addresses (RFC 6890, RFC 8190), whole. The narrowest network counts.
 * https://www.iana.org/assignments/iana-ipv4-special-registry
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export const SPECIAL_PURPOSE: readonly (readonly [network: string, reachable: Reachable])[] = [
  ['0.0.0.0/8', false], // "this network", RFC 791
  ['0.0.0.0/32', false], // "this host on this network", RFC 1122
  ['10.0.0.0/8', false], // private use, RFC 1918
  ['100.64.0.0/10', false], // shared address space, RFC 6598
  ['127.0.0.0/8', false], // loopback, RFC 1122
  ['169.254.0.0/16', false], // link local, RFC 3927
  ['172.16.0.0/12', false], // private use, RFC 1918
  ['192.0.0.0/24', false], // IETF protocol assignments, RFC 6890
  ['192.0.0.0/29', false], // IPv4 service continuity prefix, RFC 7335
  ['192.0.0.8/32', false], // IPv4 dummy address, RFC 7600
  ['192.0.0.9/32', true], // port control protocol anycast, RFC 7723
  ['192.0.0.10/32', true], // traversal using relays around NAT anycast, RFC 8155
  ['192.0.0.170/32', false], // NAT64/DNS64 discovery, RFC 8880, RFC 7050
  ['192.0.0.171/32', false], // NAT64/DNS64 discovery, RFC 8880, RFC 7050
  ['192.0.2.0/24', false], // documentation (TEST-NET-1), RFC 5737
  ['192.31.196.0/24', true], // AS112-v4, RFC 7535
  ['192.52.193.0/24', true], // AMT, RFC 7450
  ['192.88.99.0/24', false], // deprecated (6to4 relay anycast), RFC 7526: not applicable
  ['192.88.99.2/32', false], // 6a44 relay anycast, RFC 6751
  ['192.168.0.0/16', false], // private use, RFC 1918
  ['192.175.48.0/24', true], // direct delegation AS112 service, RFC 7534
  ['198.18.0.0/15', false], // benchmarking, RFC 2544
  ['198.51.100.0/24', false], // documentation (TEST-NET-2), RFC 5737
  ['203.0.113.0/24', false], // documentation (TEST-NET-3), RFC 5737
  ['240.0.0.0/4', false], // reserved, RFC 1112
  ['255.255.255.255/32', false], // limited broadcast, RFC 8190
  ['::1/128', false], // loopback, RFC 4291
  ['::/128', false], // unspecified, RFC 4291
  ['::ffff:0:0/96', 'inside'], // IPv4-mapped, RFC 4291: not reachable as such
  ['64:ff9b::/96', 'inside'], // IPv4-IPv6 translation, RFC 6052
  ['64:ff9b:1::/48', false], // IPv4-IPv6 translation, RFC 8215
  ['100::/64', false], // discard only, RFC 6666
  ['100:0:0:1::/64', false], // dummy prefix, RFC 9780
  ['2001::/23', false], // IETF protocol assignments, RFC 2928
  ['2001::/32', 'inside'], // Teredo, RFC 4380: not applicable
  ['2001:1::1/128', true], // port control protocol anycast, RFC 7723
  ['2001:1::2/128', true], // traversal using relays around NAT anycast, RFC 8155
  ['2001:1::3/128', true], // DNS-SD service registration protocol anycast, RFC 9665
  ['2001:2::/48', false], // benchmarking, RFC 5180
  ['2001:3::/32', true], // AMT, RFC 7450
  ['2001:4:112::/48', true], // AS112-v6, RFC 7535
  ['2001:10::/28', false], // deprecated (ORCHID), RFC 4843: not applicable
  ['2001:20::/28', true], // ORCHIDv2, RFC 7343
  ['2001:30::/28', true], // drone remote identification, RFC 9374
  ['2001:db8::/32', false], // documentation, RFC 3849
  ['2002::/16', 'inside'], // 6to4, RFC 3056: not applicable
  ['2620:4f:8000::/48', true], // direct delegation AS112 service, RFC 7534
  ['3fff::/20', false], // documentation, RFC 9637
  ['5f00::/16', false], // segment routing (SRv6) SIDs, RFC 9602
  ['fc00::/7', false], // unique local, RFC 4193
  ['fe80::/10', false], // link-local unicast, RFC 4291
]

/** Multicast (RFC 5771) and the reserved addresses after it, and what of IPv6 is not in use (RFC 4291): all but global unicast. */
export const NOT_UNICAST: typeof SPECIAL_PURPOSE = [
  ['224.0.0.0/3', false],
  ['::/0', false],
  ['2000::/3', true],
]
