import type { PrivacyFlag } from '../../contract/geo/privacy.ts'
import {
  type ReadEntries,
  readAws,
  readAzure,
  readFastly,
  readGoogle,
  readLines,
  readOracle,
} from './formats.ts'

/** A list of networks that its owner publishes for everybody. */
export interface FreeList {
  readonly id: string
  /** Name to show. */
  readonly name: string
  /** Name of the owner in `sources` of an answer. */
  readonly source: string
  readonly url: string
  /** If `url` is a page that links to the list: the link. */
  readonly link?: RegExp
  readonly read: ReadEntries
  /** What the list states about its networks. */
  readonly flag: PrivacyFlag
  readonly service?: string
  /** A list with fewer networks is refused. */
  readonly least: number
}

const X4BNET = 'https://raw.githubusercontent.com/X4BNet/lists_vpn/main/output'
const AZURE_LINK =
  /https:\/\/download\.microsoft\.com\/download\/[\w/-]+\/ServiceTags_Public_\d{8}\.json/

/** In order of priority: of lists with the same network, the first names the service. */
export const FREE_LISTS: readonly FreeList[] = [
  {
    id: 'aws',
    name: 'Amazon AWS',
    source: 'aws',
    service: 'Amazon AWS',
    url: 'https://ip-ranges.amazonaws.com/ip-ranges.json',
    read: readAws,
    flag: 'hosting',
    least: 1_000,
  },
  {
    id: 'google-cloud',
    name: 'Google Cloud',
    source: 'google',
    service: 'Google Cloud',
    url: 'https://www.gstatic.com/ipranges/cloud.json',
    read: readGoogle,
    flag: 'hosting',
    least: 100,
  },
  {
    id: 'google',
    name: 'Google',
    source: 'google',
    service: 'Google',
    url: 'https://www.gstatic.com/ipranges/goog.json',
    read: readGoogle,
    flag: 'hosting',
    least: 20,
  },
  {
    id: 'azure',
    name: 'Microsoft Azure',
    source: 'azure',
    service: 'Microsoft Azure',
    url: 'https://www.microsoft.com/en-us/download/details.aspx?id=56519',
    link: AZURE_LINK,
    read: readAzure,
    flag: 'hosting',
    least: 1_000,
  },
  {
    id: 'oracle',
    name: 'Oracle Cloud',
    source: 'oracle',
    service: 'Oracle Cloud',
    url: 'https://docs.oracle.com/en-us/iaas/tools/public_ip_ranges.json',
    read: readOracle,
    flag: 'hosting',
    least: 100,
  },
  {
    id: 'cloudflare-4',
    name: 'Cloudflare IPv4',
    source: 'cloudflare',
    service: 'Cloudflare',
    url: 'https://www.cloudflare.com/ips-v4',
    read: readLines,
    flag: 'hosting',
    least: 5,
  },
  {
    id: 'cloudflare-6',
    name: 'Cloudflare IPv6',
    source: 'cloudflare',
    service: 'Cloudflare',
    url: 'https://www.cloudflare.com/ips-v6',
    read: readLines,
    flag: 'hosting',
    least: 3,
  },
  {
    id: 'fastly',
    name: 'Fastly',
    source: 'fastly',
    service: 'Fastly',
    url: 'https://api.fastly.com/public-ip-list',
    read: readFastly,
    flag: 'hosting',
    least: 5,
  },
  {
    id: 'digitalocean',
    name: 'DigitalOcean',
    source: 'digitalocean',
    service: 'DigitalOcean',
    url: 'https://www.digitalocean.com/geo/google.csv',
    read: readLines,
    flag: 'hosting',
    least: 100,
  },
  {
    id: 'linode',
    name: 'Linode',
    source: 'linode',
    service: 'Linode',
    url: 'https://geoip.linode.com/',
    read: readLines,
    flag: 'hosting',
    least: 100,
  },
  {
    id: 'icloud',
    name: 'iCloud Private Relay',
    source: 'apple',
    service: 'iCloud Private Relay',
    url: 'https://mask-api.icloud.com/egress-ip-ranges.csv',
    read: readLines,
    flag: 'relay',
    least: 10_000,
  },
  {
    id: 'tor',
    name: 'Tor exits',
    source: 'tor',
    url: 'https://check.torproject.org/torbulkexitlist',
    read: readLines,
    flag: 'tor',
    least: 100,
  },
  {
    id: 'vpn-4',
    name: 'X4BNet VPN IPv4',
    source: 'x4bnet',
    url: `${X4BNET}/vpn/ipv4.txt`,
    read: readLines,
    flag: 'vpn',
    least: 500,
  },
  {
    id: 'vpn-6',
    name: 'X4BNet VPN IPv6',
    source: 'x4bnet',
    url: `${X4BNET}/vpn/ipv6.txt`,
    read: readLines,
    flag: 'vpn',
    least: 10,
  },
  {
    id: 'datacenter-4',
    name: 'X4BNet datacenters IPv4',
    source: 'x4bnet',
    url: `${X4BNET}/datacenter/ipv4.txt`,
    read: readLines,
    flag: 'hosting',
    least: 1_000,
  },
  {
    id: 'datacenter-6',
    name: 'X4BNet datacenters IPv6',
    source: 'x4bnet',
    url: `${X4BNET}/datacenter/ipv6.txt`,
    read: readLines,
    flag: 'hosting',
    least: 100,
  },
]
