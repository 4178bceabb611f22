import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ledger } from '../../../lib/db/ledger/ledger.ts'
import { openAtlas } from '../../../lib/geo/atlas/atlas.ts'
import { writeAtlas } from '../../../lib/geo/atlas/compile.ts'
import type { Library } from '../../../lib/geo/library.ts'
import { RequestReader } from '../../../lib/http/fast-path/plain-request.ts'
import type { WholeAnswer } from '../../../lib/http/write-answer.ts'
import type { Meter } from '../../../lib/limits/meter.ts'
import type { RateLimiter } from '../../../lib/limits/rate-limiter.ts'
import { silentLog } from '../../../lib/parts/log/log.ts'
import type { Address } from '../../../lib/parts/net/address.ts'
import type { Services } from '../../../lib/services/services.ts'
import { createRequestCounts } from '../../../lib/usage/request-counts.ts'
import { createKeyedLookUps, type LookUpParts } from '../../../routes/request/keyed-look-ups.ts'
import type { Answer } from '../../support/contract-check.ts'
import { ON_POSTGRES } from '../../support/database/test-database.ts'
import { steadyHeaders, type TestApp } from '../../support/helpers.ts'
import { freshClient, type SendOptions, toRequest } from '../../support/scene/send.ts'
import { processFolder } from '../../support/temp-folder.ts'

/** Sends a look-up both ways. Returns the router's answer. */
export type SendBothWays = (path: string, options: SendOptions) => Promise<Answer>

/**
 * Returns a function that sends look-ups to the fast path and to the router, and fails unless the fast path
 * answers as the router does. The fast path decides by the same services, but charges, counts and logs
 * nothing. As in production it looks up in the atlas.
 */
export async function openBothWays(
  app: Pick<TestApp, 'services' | 'send'>,
  { hasUsualGeo = true } = {},
): Promise<SendBothWays> {
  const { services } = app
  const geo = hasUsualGeo ? await withAtlas(services.geo) : services.geo
  const answer = createKeyedLookUps(withoutSideEffects({ ...services, geo }))
  return async (path, options) => {
    const from = options.from ?? freshClient()
    const head = new RequestReader().read(toBytes(toRequest('GET', path, options)))
    const fast = head === null ? null : answer({ ...head, socket: { remoteAddress: from } })
    const usual = await app.send('GET', path, { ...options, from })
    // On PostgreSQL, it leaves requests to the router while counts are loaded and other nodes are asked.
    if (!ON_POSTGRES) assert.ok(fast, 'the fast path answers')
    if (fast !== null) assertSameAnswer(fast, { ...usual, headers: steadyHeaders(usual) })
    return usual
  }
}

function toBytes({ method, url, headers, body }: Request): Buffer {
  const { host, pathname, search } = new URL(url)
  const lines = [...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = `${method} ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n`
  return Buffer.from(body === null ? head : `${head}body`, 'latin1')
}

function withoutSideEffects(services: LookUpParts & Pick<Services, 'meters'>): LookUpParts {
  const { meters, limits, visitors } = services
  return {
    ...services,
    log: silentLog,
    requestTimes: { observe: () => {} },
    requestCounts: createRequestCounts(new Ledger(assert.fail, () => assert.fail())),
    meters: {
      load: (caller, now) => meters.load(caller, now),
      open: (caller, now) => {
        const meter = meters.open(caller, now)
        const without: Pick<Meter, 'take' | 'mustAsk' | 'isOverCap' | 'count'> = {
          take: (at) => meters.peek(caller, at),
          mustAsk: (at) => meter.mustAsk(at),
          isOverCap: () => meter.isOverCap(),
          count: () => {},
        }
        return Object.assign(Object.create(meter), without)
      },
    },
    limits: { ...limits, failures: withoutCharge(limits.failures) },
    visitors: (plan) => withoutCharge(visitors(plan)),
  }
}

/** Refuses when `limiter` does, but charges nothing. */
function withoutCharge(limiter: RateLimiter): RateLimiter {
  const take = (id: string, now: number) => {
    const state = limiter.take(id, now)
    if (state.allowed) limiter.refund(id)
    return state
  }
  return { ...limiter, take }
}

const folder = processFolder()
let atlas: ReturnType<typeof openTestAtlas> | undefined

/** Looks up in the atlas of the usual test databases until `geo` replaces one of them. */
async function withAtlas(geo: Library): Promise<Library> {
  atlas ??= openTestAtlas(geo)
  const opened = await atlas
  const databases = geo.places()
  const isSame = () => geo.places().every((database, at) => database === databases[at])
  const find = (address: Address) =>
    address.version === 4 && isSame() ? opened.find(address.bits) : geo.find(address)
  return { ...geo, find }
}

async function openTestAtlas(geo: Library) {
  const path = join(folder, 'atlas.bin')
  await writeAtlas(path, geo.places(), () => {})
  return openAtlas(readFileSync(path))
}

interface Read {
  readonly status: number
  readonly headers: readonly [string, string][]
  readonly text: string
}

/** Fails unless both answers are equal except for request ids and the remaining requests of a limit. */
function assertSameAnswer(fast: WholeAnswer, usual: Read): void {
  const { ratelimit, ...headers } = fast.headers
  assert.deepEqual(
    withoutId({ status: fast.status, headers: new Headers(headers), text: fast.json ?? '' }),
    withoutId({ ...usual, headers: new Headers([...usual.headers]) }),
    'the fast path answers as the router does',
  )
}

function withoutId(answer: { status: number; headers: Headers; text: string }) {
  const { status, headers, text } = answer
  const id = headers.get('x-request-id') ?? ''
  const steady = [...headers].filter(([name]) => name !== 'x-request-id')
  return { status, headers: steady, text: text.replaceAll(id, 'ID') }
}
