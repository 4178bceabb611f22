import { FREE_LISTS } from '../../../lib/geo/network-lists/free-lists.ts'
import { formatIpv6, ipv4FromBits, parseAddress } from '../../../lib/parts/net/address.ts'
import { networkText } from '../../../lib/parts/net/network.ts'
import { createRandom, pick, type Random } from '../../../scripts/parts/random.ts'
import type { ServedFile } from '../download/file-server.ts'

/* The free lists with invented networks, each in exactly the form in which its owner publishes it. */

const AZURE_FILE =
  'https://download.microsoft.com/download/7/1/d/71d86715-5596-4529-9b13-da13a5de5b63/ServiceTags_Public_20261123.json'

export const LAST_MODIFIED = 'Mon, 23 Nov 2026 10:00:00 GMT'

/** First octets of public addresses. Few, so that networks of different lists contain each other. */
const OCTETS = [3, 13, 20, 34, 45, 104, 185] as const
const IPV6_STARTS = [0x2600_1f00, 0x2603_1000, 0x2a02_26f7, 0x2a04_4e40] as const

/** Different networks, with prefixes from `widest` to `narrowest`. */
function networks(random: Random, count: number, [widest, narrowest]: readonly [number, number]) {
  const found = new Set<string>()
  while (found.size < count) {
    const prefix = widest + Math.floor(random() * (narrowest - widest + 1))
    // The second octet varies little, so that the networks are near each other.
    const bits = pick(random, OCTETS) * 2 ** 24 + Math.floor(random() * 2 ** 21)
    found.add(networkText(ipv4FromBits(bits), prefix))
  }
  return [...found]
}

function networks6(random: Random, count: number, [widest, narrowest]: readonly [number, number]) {
  const found = new Set<string>()
  while (found.size < count) {
    const prefix = widest + Math.floor(random() * (narrowest - widest + 1))
    const second = Math.floor(random() * 2 ** 12) * 2 ** 16 + Math.floor(random() * 2 ** 16)
    const address = parseAddress(formatIpv6([pick(random, IPV6_STARTS), second, 0, 0]))
    if (address !== null) found.add(networkText(address, prefix))
  }
  return [...found]
}

const json = (value: unknown) => JSON.stringify(value, null, 2)
const lines = (all: readonly string[]) => all.map((line) => `${line}\n`).join('')

const aws = (random: Random) =>
  json({
    syncToken: '1764072186',
    createDate: '2026-11-25-12-03-06',
    prefixes: networks(random, 1_500, [14, 32]).map((ip_prefix) => ({
      ip_prefix,
      region: 'eu-west-1',
      service: 'AMAZON',
      network_border_group: 'eu-west-1',
    })),
    ipv6_prefixes: networks6(random, 300, [32, 56]).map((ipv6_prefix) => ({
      ipv6_prefix,
      region: 'eu-west-1',
      service: 'EC2',
      network_border_group: 'eu-west-1',
    })),
  })

const google = (random: Random, more: object) =>
  json({
    syncToken: '1764055862512',
    creationTime: '2026-11-24T23:31:02.512Z',
    prefixes: [
      ...networks(random, 120, [15, 28]).map((ipv4Prefix) => ({ ipv4Prefix, ...more })),
      ...networks6(random, 20, [32, 44]).map((ipv6Prefix) => ({ ipv6Prefix, ...more })),
    ],
  })

const azure = (random: Random) => {
  const all = [...networks(random, 1_400, [16, 32]), ...networks6(random, 300, [40, 64])]
  const tag = (name: string, addressPrefixes: readonly string[]) => ({
    name,
    id: name,
    properties: {
      changeNumber: 29,
      region: '',
      regionId: 0,
      platform: 'Azure',
      systemService: '',
      addressPrefixes,
      networkFeatures: ['API', 'NSG', 'UDR', 'FW'],
    },
  })
  const values = [tag('ActionGroup', all.slice(0, 40)), tag('AzureCloud', all)]
  return json({ changeNumber: 421, cloud: 'Public', values })
}

const AZURE_PAGE = `<!DOCTYPE html><html lang="en-us"><head><title>Download Azure IP Ranges</title></head>
<body><a class="download" href="${AZURE_FILE}" target="_blank">Download</a>
<script>window.__DLCDetails__={"file":"${AZURE_FILE}"}</script></body></html>`

const oracle = (random: Random) =>
  json({
    last_updated_timestamp: '2026-11-20T18:12:47.803224',
    regions: [
      {
        region: 'us-phoenix-1',
        cidrs: networks(random, 150, [18, 26]).map((cidr) => ({ cidr, tags: ['OCI'] })),
      },
    ],
  })

const geofeed = (all: readonly string[]) =>
  lines(all.map((network) => `${network},US,US-NJ,Cedar Knolls,07927`))

/** Each list by the URL of its owner. */
const FILES: Readonly<Record<string, (random: Random) => string>> = {
  'https://ip-ranges.amazonaws.com/ip-ranges.json': aws,
  'https://www.gstatic.com/ipranges/cloud.json': (random) =>
    google(random, { service: 'Google Cloud', scope: 'africa-south1' }),
  'https://www.gstatic.com/ipranges/goog.json': (random) => google(random, {}),
  'https://www.microsoft.com/en-us/download/details.aspx?id=56519': () => AZURE_PAGE,
  [AZURE_FILE]: azure,
  'https://docs.oracle.com/en-us/iaas/tools/public_ip_ranges.json': oracle,
  // Without a newline at the end
  'https://www.cloudflare.com/ips-v4': (random) => networks(random, 15, [12, 22]).join('\n'),
  'https://www.cloudflare.com/ips-v6': (random) => networks6(random, 7, [29, 32]).join('\n'),
  'https://api.fastly.com/public-ip-list': (random) =>
    JSON.stringify({
      addresses: networks(random, 19, [15, 24]),
      ipv6_addresses: networks6(random, 2, [32, 32]),
    }),
  'https://www.digitalocean.com/geo/google.csv': (random) =>
    geofeed([...networks(random, 300, [18, 24]), ...networks6(random, 50, [48, 64])]),
  'https://geoip.linode.com/': (random) =>
    `# Linode IP geolocation feed\n# ip_prefix,alpha2code,region,city,postal_code\n${geofeed([
      ...networks(random, 300, [17, 24]),
      ...networks6(random, 50, [32, 64]),
    ])}`,
  'https://mask-api.icloud.com/egress-ip-ranges.csv': (random) =>
    lines(
      [...networks(random, 2_500, [26, 32]), ...networks6(random, 9_000, [44, 64])].map(
        (network) => `${network},GB,GB-EN,London,`,
      ),
    ),
  'https://check.torproject.org/torbulkexitlist': (random) =>
    lines(networks(random, 1_200, [32, 32]).map((network) => network.replace('/32', ''))),
  'https://raw.githubusercontent.com/X4BNet/lists_vpn/main/output/vpn/ipv4.txt': (random) =>
    lines(networks(random, 900, [18, 32])),
  'https://raw.githubusercontent.com/X4BNet/lists_vpn/main/output/vpn/ipv6.txt': (random) =>
    lines(networks6(random, 60, [29, 48])),
  'https://raw.githubusercontent.com/X4BNet/lists_vpn/main/output/datacenter/ipv4.txt': (random) =>
    lines(networks(random, 2_000, [13, 32])),
  'https://raw.githubusercontent.com/X4BNet/lists_vpn/main/output/datacenter/ipv6.txt': (random) =>
    lines(networks6(random, 300, [29, 48])),
}

/** The lists as a mirror serves them, by path and query. */
export function publishedFiles(seed: number): Map<string, ServedFile> {
  const random = createRandom(seed)
  return new Map(
    Object.entries(FILES).map(([url, write]) => {
      const bytes = Buffer.from(write(random))
      return [pathAtMirror(url), { bytes, lastModified: LAST_MODIFIED }]
    }),
  )
}

export function pathAtMirror(url: string): string {
  return `/${url.replace(/^https:\/\//, '')}`
}

/** The path at a mirror of the list itself, even if its URL is that of a page. */
export function pathOf(id: string): string {
  const list = FREE_LISTS.find((one) => one.id === id)
  if (list === undefined) throw new Error(`"${id}" is no list`)
  return pathAtMirror(list.link === undefined ? list.url : AZURE_FILE)
}
