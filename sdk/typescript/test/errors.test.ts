import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MeridianError } from '../src/index.ts'
import { FREE_KEY, GEO_KEY, newClient } from './parts/service.ts'
import { startStub } from './parts/stub-server.ts'

const ADDRESS = '81.2.69.160'

/** The error with which the call fails. */
async function errorOf(call: Promise<unknown>): Promise<MeridianError> {
  const error = await call.then(
    () => assert.fail('The call succeeded'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof MeridianError, String(error))
  return error
}

describe('an error of the service', () => {
  const calls = {
    400: {
      code: 'BAD_REQUEST',
      call: () => newClient().summary([ADDRESS], { top: 0 }),
    },
    401: {
      code: 'UNAUTHORIZED',
      call: () => newClient({ key: 'none' }).locate(ADDRESS),
    },
    403: {
      code: 'INSUFFICIENT_SCOPE',
      call: () => newClient({ key: GEO_KEY }).usage(),
    },
    404: {
      code: 'NOT_FOUND',
      call: () => newClient().asn(64_496),
    },
  } as const
  for (const [status, { code, call }] of Object.entries(calls)) {
    it(`has the status ${status}, the code, a message and the id of the request`, async () => {
      const error = await errorOf(call())
      assert.equal(error.status, Number(status))
      assert.equal(error.code, code)
      assert.notEqual(error.message, '')
      assert.match(error.requestId ?? '', /^[\da-f-]{36}$/)
      assert.equal(error.retryAfter, undefined)
    })
  }

  it('has the status 429 over the rate limit, and the seconds to wait', async () => {
    const client = newClient({ key: FREE_KEY, retries: 0, cache: false })
    const locate = () => client.locate(ADDRESS)
    const error = await errorOf(Promise.all(Array.from({ length: 11 }, locate)))
    assert.equal(error.status, 429)
    assert.equal(error.code, 'RATE_LIMITED')
    assert.ok((error.retryAfter ?? 0) > 0)
  })
})

describe('an answer of something else', () => {
  const replies = {
    'a page': { status: 200, body: '<html>' },
    'a page of a proxy': { status: 502, body: '<html>' },
    'an error in another form': { status: 403, body: { error: 'no' } },
    'a redirect': { status: 302, headers: { Location: 'http://127.0.0.1:1/' } },
  } as const
  for (const [name, reply] of Object.entries(replies)) {
    it(`is an error: ${name}`, async () => {
      await using stub = await startStub(reply)
      const error = await errorOf(newClient({ url: stub.url, retries: 0 }).locate(ADDRESS))
      assert.equal(error.code, 'UNEXPECTED_ANSWER')
      assert.equal(error.status, reply.status)
    })
  }

  it('is an error if a batch has a different number of results', async () => {
    await using stub = await startStub({ status: 200, body: { results: [] } })
    const error = await errorOf(newClient({ url: stub.url }).locateMany([ADDRESS]))
    assert.equal(error.code, 'UNEXPECTED_ANSWER')
  })
})

describe('no answer', () => {
  it('is an error if nobody listens', async () => {
    const stub = await startStub('cut')
    await stub[Symbol.asyncDispose]()
    const error = await errorOf(newClient({ url: stub.url, retries: 0 }).locate(ADDRESS))
    assert.equal(error.code, 'NETWORK_ERROR')
    assert.equal(error.status, 0)
    assert.ok(error.cause instanceof Error)
  })

  it('is an error after the time-out', async () => {
    await using stub = await startStub('silence')
    const client = newClient({ url: stub.url, retries: 0, timeoutMs: 50 })
    assert.equal((await errorOf(client.locate(ADDRESS))).code, 'TIMEOUT')
  })

  it('ends with the reason of the signal if the caller stops waiting', async () => {
    await using stub = await startStub('silence')
    const client = newClient({ url: stub.url })
    const controller = new AbortController()
    const call = client.locate(ADDRESS, { signal: controller.signal })
    const reason = new Error('the visitor left')
    controller.abort(reason)
    await assert.rejects(call, reason)
    await assert.rejects(client.locate(ADDRESS, { signal: AbortSignal.abort(reason) }), reason)
  })
})
