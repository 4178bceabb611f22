import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ipv4FromBits } from '../../lib/parts/net/address.ts'
import { createRandom, type Random } from '../../scripts/parts/random.ts'

/** A sequence of addresses to look up, the same in every run. */
export interface Mix {
  readonly name: string
  readonly addresses: readonly string[]
}

/** First numbers of the reserved networks, such as 10.0.0.0/8 and 192.168.0.0/16. */
const RESERVED = [10, 100, 127, 169, 172, 192, 198, 203]

const FIRST = 0x01_00_00_00
const LAST = 0xdf_ff_ff_ff

const POPULAR_ADDRESSES = 100_000

/** `count` addresses from all of the public IPv4 space, so that caches do not help. */
export function randomMix(count: number): Mix {
  const random = createRandom(1)
  const addresses = Array.from({ length: count }, () => publicAddress(random))
  return { name: 'random', addresses }
}

/** `count` draws from 100,000 addresses. The nth most popular is drawn 1/n as often as the first. */
export function zipfMix(count: number): Mix {
  const random = createRandom(2)
  const popular = Array.from({ length: POPULAR_ADDRESSES }, () => publicAddress(random))
  const pick = () => popular[zipfRank(random) - 1] ?? ''
  return { name: 'zipf', addresses: Array.from({ length: count }, pick) }
}

/** Writes the addresses to a file in `folder`, one per line, and returns its path. */
export function writeAddresses(folder: string, { name, addresses }: Mix): string {
  const path = join(folder, `${name}.txt`)
  writeFileSync(path, `${addresses.join('\n')}\n`)
  return path
}

function publicAddress(random: Random): string {
  for (;;) {
    const bits = FIRST + Math.floor(random() * (LAST - FIRST + 1))
    if (!RESERVED.includes(bits >>> 24)) return ipv4FromBits(bits).text
  }
}

/** Draws a rank n with a probability proportional to 1/n, by rejection sampling. */
function zipfRank(random: Random): number {
  for (;;) {
    // This alone would draw n with a probability proportional to log(1 + 1/n).
    const rank = Math.floor((POPULAR_ADDRESSES + 1) ** random())
    if (random() * rank * Math.log1p(1 / rank) < Math.LN2) return rank
  }
}
