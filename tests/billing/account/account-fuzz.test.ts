import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { codeOf, recordingLog, withoutAccountLimit } from '../../support/helpers.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'
import { type BillingApp, makeBillingApp } from '../customers.ts'

/*
 * Whatever texts and paths contain, the answer follows the contract (`send` checks that). It is never
 * 500, and never an error that blames Stripe.
 */

let at: BillingApp
let ada: Awaited<ReturnType<BillingApp['addSubscriber']>>
const log = recordingLog()

before(async () => {
  at = await makeBillingApp({ log, replace: withoutAccountLimit })
  ada = await at.addSubscriber()
})
after(() => at[Symbol.asyncDispose]())

/** Texts of all kinds, with characters that are special in paths, forms and Stripe's ids. */
const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 60 }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\0', '/', '.', '%', '&', '=', '[', ']') }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 300 }),
  fc.tuple(fc.constantFrom('pm_', 'txi_', 'promo_'), fc.string({ maxLength: 20 })).map(joined),
  fc.constantFrom('__proto__', 'constructor', '', ' ', '..', '../..', '%2e%2e', '[]', 'a[b]=c'),
)

const anyValue = fc.oneof(
  { weight: 5, arbitrary: anyText },
  { weight: 1, arbitrary: fc.jsonValue() },
)

function joined(parts: readonly string[]): string {
  return parts.join('')
}

async function assertDocumented(method: string, path: string, body?: unknown): Promise<void> {
  const answer = await ada.send(method, path, { body })
  assert.ok(answer.status < 500, `${method} ${path} ${answer.status}`)
  assert.deepEqual(
    log.events.filter(({ message }) => message === 'unexpected error'),
    [],
  )
}

describe('any text gets an answer that follows the contract', () => {
  it('as a promotion code', async () => {
    const property = fc.asyncProperty(anyValue, (code) =>
      assertDocumented('POST', '/v1/billing/promo', { code }),
    )
    await fc.assert(property, { numRuns: 60 })
  })

  it('as type and value of a tax id', async () => {
    const type = fc.oneof(fc.constantFrom('eu_vat', 'us_ein', 'zw_tin'), anyValue)
    const property = fc.asyncProperty(type, anyValue, (type, value) =>
      assertDocumented('POST', '/v1/billing/tax-ids', { type, value }),
    )
    await fc.assert(property, { numRuns: 60 })
  })

  it('as the id of a tax id', async () => {
    const property = fc.asyncProperty(anyText, async (id) => {
      const segment = encodeURIComponent(id.toWellFormed())
      // A browser removes these segments, so they make another path.
      if (['', '.', '..', '%2e', '%2e%2e'].includes(segment.toLowerCase())) return
      const answer = await ada.send('DELETE', `/v1/billing/tax-ids/${segment}`)
      assert.equal(answer.status, 404, id)
      assert.equal(codeOf(answer), 'NOT_FOUND', id)
    })
    await fc.assert(property, { numRuns: 100 })
  })

  it('as a payment method', async () => {
    const property = fc.asyncProperty(anyValue, (paymentMethodId) =>
      assertDocumented('POST', '/v1/billing/payment-method', { paymentMethodId }),
    )
    await fc.assert(property, { numRuns: 60 })
  })

  it('as lines of an address, which are returned exactly as they were set', async () => {
    const line = fc.option(anyText, { nil: undefined })
    const address = fc.record({
      line1: anyText,
      line2: line,
      city: line,
      state: line,
      postal_code: line,
      country: fc.oneof({ weight: 4, arbitrary: fc.constantFrom('GB', 'DE') }, anyText),
    })
    const property = fc.asyncProperty(address, async (body) => {
      const answer = await ada.send('PUT', '/v1/billing/address', { body })
      assert.ok(answer.status === 200 || codeOf(answer) === 'BAD_REQUEST')
      if (answer.status !== 200) return
      const { postal_code, ...lines } = body
      const { body: details } = await ada.send('GET', '/v1/billing/details')
      const written = Object.entries({ ...lines, postalCode: postal_code })
      const address = Object.fromEntries(written.map(([name, text]) => [name, text || null]))
      assert.partialDeepStrictEqual(details, { address })
    })
    await fc.assert(property, { numRuns: 100 })
  })
})
