import { formatIpv6, ipv4FromBits, type Words } from '../../../lib/parts/net/address.ts'
import { networkText } from '../../../lib/parts/net/network.ts'
import { createRandom, pick, type Random } from '../../../scripts/parts/random.ts'

/* Geofeeds with invented networks, in the form and with the mistakes that operators publish. */

const FIRST_OCTETS = [10, 45, 104, 185] as const
const IPV6_STARTS = [0x2001_0db8, 0x2a02_26f7] as const
const COUNTRIES = [
  'DE',
  'de',
  'US',
  'Us',
  'GB',
  'XK',
  'JP',
  '',
  'ZZ',
  'zz',
  'EU',
  'QQ',
  'D',
] as const
const REGIONS = [
  '',
  '',
  'DE-BE',
  'de-by',
  'US-CA',
  'us-ny',
  'GB-ENG',
  'JP-13',
  'CA',
  'US-',
] as const
const CITIES = [
  '',
  'Berlin',
  'New York',
  'São Paulo',
  '東京',
  '"Los ""A"" Angeles"',
  'Bad"',
] as const
const TAILS = ['', ',', ',10115', ',,', ',12345,more,"and, more"', ' # since 2020', '#'] as const

/** Blocks of each feed. Those of the second are within those of the first, and the third has two of its own. */
export const BLOCKS: readonly (readonly string[])[] = [
  ['10.0.0.0/9', '45.0.0.0/8', '2001:db8::/32', '2a02:26f7::/33'],
  ['10.16.0.0/12', '45.128.0.0/10', '2001:db8:8000::/33'],
  ['104.0.0.0/10', '10.17.0.0/16', '185.0.0.0/8', '2a02:26f7:0:8000::/49'],
]

function ipv4Prefix(random: Random): string {
  const prefix = 10 + Math.floor(random() * 23)
  const bits = pick(random, FIRST_OCTETS) * 2 ** 24 + Math.floor(random() * 2 ** 24)
  return networkText(ipv4FromBits(bits), prefix)
}

/** Few different bits, so that networks are nested, in several notations. */
function ipv6Prefix(random: Random): string {
  const prefix = 32 + Math.floor(random() * 97)
  const word = () => (random() < 0.5 ? 0 : Math.floor(random() * 2 ** 32))
  const words: Words = [pick(random, IPV6_STARTS), word(), word(), word()]
  const text = networkText({ version: 6, text: formatIpv6(words), words }, prefix)
  if (random() < 0.2) return text.toUpperCase()
  return random() < 0.2 ? text.replace('2001:db8:', '2001:0db8:') : text
}

function prefixOf(random: Random): string {
  const text = random() < 0.6 ? ipv4Prefix(random) : ipv6Prefix(random)
  const kind = random()
  if (kind < 0.02) return `${text.split('/')[0]}/8` // mostly with bits after the prefix
  if (kind < 0.03) return text.replace('/', ' - ')
  if (kind < 0.04) return ''
  return kind < 0.1 ? text.replace(/\/(32|128)$/, '') : text
}

function lineOf(random: Random): string {
  const kind = random()
  if (kind < 0.02)
    return pick(random, ['', '   ', '# a comment, with "quotes', '#10.0.0.0/8,DE', ',,,,'])
  const prefix = prefixOf(random)
  // Many entries have all their fields valid.
  const [country, region, city] =
    kind < 0.6
      ? pick(random, [
          ['DE', 'DE-BE', 'Berlin'],
          ['us', 'us-ca', 'San José'],
          ['', 'GB-ENG', ''],
          ['JP', '', '東京'],
          ['', '', ''],
        ] as const)
      : [pick(random, COUNTRIES), pick(random, REGIONS), pick(random, CITIES)]
  const space = random() < 0.05 ? ' ' : ''
  return `${prefix}${space},${space}${country},${region},${city}${pick(random, TAILS)}`
}

/** The texts of the feeds, one for each row of BLOCKS. */
export function publishedGeofeeds(seed: number, lines: number): string[] {
  const random = createRandom(seed)
  return BLOCKS.map((_, at) => {
    const end = at === 0 ? '\r\n' : '\n'
    const all = Array.from({ length: lines }, () => lineOf(random))
    return `${at === 1 ? '\uFEFF' : ''}# ip_prefix,alpha2code,region,city,postal_code${end}${all.join(end)}`
  })
}
