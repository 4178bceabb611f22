import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { beginCalls, DEFAULT_RETRY_POLICY } from '../../../lib/billing/stripe/stripe-calls.ts'
import { StripeRefusal } from '../../../lib/billing/stripe/stripe-refusal.ts'
import { createStripe } from '../../../lib/billing/stripe/stripe-sdk.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import { newSecretKey } from '../../../stripe-double/ids.ts'
import { type Handle, startLoopbackServer } from '../../support/loopback-server.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'

const CUSTOMER = JSON.stringify({ id: 'cus_1', object: 'customer' })

/** Reads a customer from a server that answers with `handle`. Returns its id, or the code of the error. */
async function readFrom(handle: Handle): Promise<string> {
  await using server = await startLoopbackServer(handle)
  return await read(server.origin)
}

async function read(apiBase: string): Promise<string> {
  const stripe = createStripe({ secretKey: newSecretKey(), apiBase, onFailure: () => {} })
  const calls = beginCalls(async () => stripe, { ...DEFAULT_RETRY_POLICY, tries: 1 })
  try {
    return (await calls.customers.retrieve('cus_1')).id
  } catch (error) {
    assert.ok(error instanceof ApiError)
    return error instanceof StripeRefusal ? String(error.reason) : error.code
  }
}

const strange = fc.oneof(
  fc.json(),
  fc.string(),
  fc.string({ unit: anyCharacter }),
  fc.nat(CUSTOMER.length - 1).map((length) => CUSTOMER.slice(0, length)),
  fc.constantFrom('"Bad gateway"', '1', 'null', '[]', '{}', '', '<html>', '{"error":5}'),
)

describe('an answer that is not from Stripe', () => {
  it('is a failed call, whatever its status and body', async () => {
    let answer = { status: 200, body: '' }
    await using server = await startLoopbackServer((_, response) => {
      response.writeHead(answer.status).end(answer.body)
    })
    const statuses = fc.constantFrom(200, 201, 204, 302, 304, 400, 404, 429, 500, 502, 503)
    await fc.assert(
      fc.asyncProperty(statuses, strange, async (status, body) => {
        answer = { status, body }
        assert.equal(await read(server.origin), 'BILLING_UNAVAILABLE')
      }),
      { numRuns: 300 },
    )
  })

  it('is a failed call if it ends too early, never ends or redirects', async () => {
    const handles: Handle[] = [
      (_, response) => {
        response.writeHead(200, { 'content-length': CUSTOMER.length + 1 }).write(CUSTOMER)
        response.destroy()
      },
      (_, response) => {
        const part = Buffer.alloc(1_000_000, ' ')
        const send = () => {
          if (response.destroyed) return
          response.write(part, send)
        }
        response.writeHead(200)
        send()
      },
      ({ url }, response) => {
        if (url === '/elsewhere') response.end(CUSTOMER)
        else response.writeHead(302, { location: '/elsewhere' }).end()
      },
    ]
    for (const handle of handles) assert.equal(await readFrom(handle), 'BILLING_UNAVAILABLE')
  })

  it('differs from the answers of Stripe', async () => {
    assert.equal(await readFrom((_, response) => response.end(CUSTOMER)), 'cus_1')
    const error = { type: 'invalid_request_error', code: 'resource_missing' }
    const refused = await readFrom((_, response) =>
      response.writeHead(404).end(JSON.stringify({ error })),
    )
    assert.equal(refused, 'resource_missing')
  })
})
