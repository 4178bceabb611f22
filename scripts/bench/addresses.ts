import { formatIpv4 } from '../../lib/address.ts'
import { type Network, parseNetwork } from '../../lib/network.ts'
import { createRandom } from '../random.ts'

/** Sequences of addresses to ask for; the same ones in every run. */
export interface Mix {
  readonly name: string
  readonly addresses: readonly string[]
}

const RESERVED = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
].map((text) => rangeOf(parseNetwork(text)))

const FIRST = 0x01_00_00_00
const LAST = 0xdf_ff_ff_ff

const POPULAR_ADDRESSES = 100_000

/** `count` addresses, each from anywhere in the public IPv4 space: no cache helps. */
export function randomMix(count: number): Mix {
  const random = createRandom(1)
  const addresses = Array.from({ length: count }, () => publicAddress(random))
  return { name: 'random', addresses }
}

/** `count` addresses of 100,000 different ones, the nth most popular 1/n as often as the first. */
export function zipfMix(count: number): Mix {
  const random = createRandom(2)
  const popular = Array.from({ length: POPULAR_ADDRESSES }, () => publicAddress(random))
  const shares = sharesOf(POPULAR_ADDRESSES)
  const pick = () => popular[rankAt(shares, random())] ?? ''
  return { name: 'zipf', addresses: Array.from({ length: count }, pick) }
}

function publicAddress(random: () => number): string {
  for (;;) {
    const bits = FIRST + Math.floor(random() * (LAST - FIRST + 1))
    if (!RESERVED.some(({ first, last }) => bits >= first && bits <= last)) return formatIpv4(bits)
  }
}

function rangeOf(network: Network | null) {
  if (network?.address.version !== 4) throw new Error('Not an IPv4 network')
  const { bits } = network.address
  return { first: bits, last: bits + 2 ** (32 - network.prefix) - 1 }
}

/** Shares of all requests that go to the first n ranks. */
function sharesOf(ranks: number): Float64Array {
  const shares = new Float64Array(ranks)
  let sum = 0
  for (let rank = 0; rank < ranks; rank++) {
    sum += 1 / (rank + 1)
    shares[rank] = sum
  }
  return shares.map((share) => share / sum)
}

function rankAt(shares: Float64Array, share: number): number {
  let low = 0
  let high = shares.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((shares[middle] ?? 1) < share) low = middle + 1
    else high = middle
  }
  return low
}
