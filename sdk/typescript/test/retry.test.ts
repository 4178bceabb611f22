import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MeridianError } from '../src/error.ts'
import { type RetryOptions, retryDelay } from '../src/retry.ts'
import { newClient } from './parts/service.ts'
import { errorReply, startStub } from './parts/stub-server.ts'

const ADDRESS = '81.2.69.160'
const LOCATED = { status: 200, body: { location: { city: 'London' } } }
const BATCH = { status: 200, body: { results: [LOCATED.body] } }

describe('a call', () => {
  const passing = {
    429: errorReply(429, 'RATE_LIMITED', { 'Retry-After': '0' }),
    503: errorReply(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '0' }),
    '503 without Retry-After': errorReply(503, 'SERVICE_UNAVAILABLE'),
    '502 of a proxy': { status: 502, body: '<html>' },
    'a cut connection': 'cut',
  } as const
  for (const [name, reply] of Object.entries(passing)) {
    it(`is made again after ${name}`, async () => {
      await using stub = await startStub(reply, reply, LOCATED)
      const { location } = await newClient({ url: stub.url }).locate(ADDRESS)
      assert.equal(location?.city, 'London')
      assert.equal(stub.targets.length, 3)
    })
  }

  it('is made again after an attempt that took too long', async () => {
    await using stub = await startStub('silence', LOCATED)
    const client = newClient({ url: stub.url, timeoutMs: 200 })
    assert.equal((await client.locate(ADDRESS)).location?.city, 'London')
  })

  it('is made as often as allowed, and then fails', async () => {
    await using stub = await startStub(errorReply(429, 'RATE_LIMITED', { 'Retry-After': '0' }))
    const client = newClient({ url: stub.url, retries: 2 })
    await assert.rejects(client.locate(ADDRESS), { status: 429 })
    assert.equal(stub.targets.length, 3)
    await assert.rejects(client.locate(ADDRESS, { retries: 0 }), { status: 429 })
    assert.equal(stub.targets.length, 4)
  })

  it('fails at once if it would have to wait too long', async () => {
    await using stub = await startStub(errorReply(429, 'RATE_LIMITED', { 'Retry-After': '61' }))
    const call = newClient({ url: stub.url }).locate(ADDRESS)
    await assert.rejects(call, { status: 429, retryAfter: 61 })
    assert.equal(stub.targets.length, 1)
  })

  it('fails at once after an error that does not pass', async () => {
    for (const status of [400, 401, 403, 500]) {
      await using stub = await startStub(errorReply(status, 'INTERNAL'), LOCATED)
      await assert.rejects(newClient({ url: stub.url }).locate(ADDRESS), { status })
      assert.equal(stub.targets.length, 1)
    }
  })

  it('ends while it waits if the caller stops waiting', async () => {
    await using stub = await startStub(errorReply(429, 'RATE_LIMITED', { 'Retry-After': '60' }))
    const signal = AbortSignal.timeout(100)
    const call = newClient({ url: stub.url }).locate(ADDRESS, { signal })
    await assert.rejects(call, { name: 'TimeoutError' })
  })
})

describe('a batch', () => {
  it('is sent again if the service has refused it', async () => {
    const refused = errorReply(429, 'RATE_LIMITED', { 'Retry-After': '0' })
    await using stub = await startStub(refused, BATCH)
    assert.deepEqual(await newClient({ url: stub.url }).locateMany([ADDRESS]), [LOCATED.body])
  })

  it('is not sent again if the service may have counted it', async () => {
    for (const reply of ['cut', { status: 502, body: '' }] as const) {
      await using stub = await startStub(reply, BATCH)
      await assert.rejects(newClient({ url: stub.url }).locateMany([ADDRESS]), MeridianError)
      assert.equal(stub.targets.length, 1)
    }
  })
})

describe('retryDelay', () => {
  const options: RetryOptions = {
    attempts: 1,
    retries: 3,
    maxDelayMs: 60_000,
    isRead: true,
    random: 0,
  }
  const refused = (retryAfter?: number) =>
    new MeridianError('Refused', { status: 429, code: 'RATE_LIMITED', retryAfter })

  it('is never shorter than Retry-After', () => {
    assert.equal(retryDelay(refused(6), options), 6_000)
    assert.equal(retryDelay(refused(6), { ...options, random: 1 }), 6_500)
  })

  it('grows without Retry-After, up to the longest wait', () => {
    const delays = [1, 2, 3].map((attempts) => retryDelay(refused(), { ...options, attempts }))
    assert.deepEqual(delays, [250, 500, 1_000])
    assert.equal(retryDelay(refused(), { ...options, maxDelayMs: 100, random: 1 }), 100)
  })
})
