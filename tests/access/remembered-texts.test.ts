import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { mintKey } from '../../lib/access/api-key.ts'
import { createFindKey } from '../../lib/access/key-ring/find-key.ts'
import { createRateLimiter, POLICIES } from '../../lib/limits/rate-limiter.ts'
import { ipv4FromBits } from '../../lib/parts/net/address.ts'
import { isBot } from '../../lib/rum/ingest/bots.ts'
import { createFindHostname } from '../../lib/services/hostnames.ts'
import { NOON } from '../support/helpers.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** As many as the smallest of these maps remembers for certain. */
const MANY = 1_000
const HEAD_BYTES = 4_000
/** A text and its entry take some hundred bytes. */
const MOST_BYTES = 1_500

/** Returns the text as a part of a request's head, as a parser of requests does. */
function inHead(text: string): string {
  const head = Buffer.from(`X-Any: ${text}${' '.repeat(HEAD_BYTES)}`).toString('latin1')
  return head.slice('X-Any: '.length, 'X-Any: '.length + text.length)
}

const addressAt = (at: number) => inHead(ipv4FromBits(0x65_64_64_64 + at).text)

/** How many bytes of memory remain of each text after it was used. */
async function bytesKept(use: (at: number) => unknown): Promise<number> {
  const heap = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  await use(MANY)
  const before = heap()
  for (let at = 0; at < MANY; at++) await use(at)
  return (heap() - before) / MANY
}

describe('texts of requests that are remembered', () => {
  it('do not keep the heads of their requests in memory', async () => {
    const key = { expiresAt: null }
    // safe: only the expiry is read
    const keys = createFindKey(() => ({ ...key }) as never)
    const limiter = createRateLimiter(POLICIES.beacons)
    const findHostname = createFindHostname(async () => 'a.example')
    const uses = {
      key: () => keys.find(inHead(mintKey('secret').text), NOON),
      address: (at: number) => limiter.take(addressAt(at), NOON),
      userAgent: (at: number) => isBot(inHead(`Mozilla/5.0 (X11; Linux x86_64) Firefox/${at}`)),
      hostname: (at: number) =>
        findHostname({ version: 4, text: addressAt(at), bits: 0x65_64_64_64 + at }),
    }
    for (const [what, use] of Object.entries(uses)) {
      const bytes = await bytesKept(use)
      assert.ok(bytes < MOST_BYTES, `${what}: ${bytes} bytes`)
    }
    // It is still known here, so it was in memory when that was measured.
    assert.equal(limiter.take(addressAt(0), NOON).remaining, POLICIES.beacons.capacity - 2)
  })
})
