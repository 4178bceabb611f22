import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createBilling } from '../../lib/billing/billing.ts'
import { makeBillingApp } from './customers.ts'

// run: only on SQLite, because its subject is loading, not the database

/** An address that cannot be read the first time. */
function failOnce(url: string): string {
  let reads = 0
  const address = {
    toString: () => {
      reads += 1
      if (reads === 1) throw new Error('cannot load')
      return url
    },
  }
  return address as unknown as string // safe: `new URL` converts it
}

describe('the SDK of Stripe', () => {
  it('is loaded again after a failed load', async () => {
    await using at = await makeBillingApp()
    const { db, plans, config, keys } = at.app.services
    const billing = createBilling({
      db,
      plans,
      stripe: { ...config.stripe, apiBase: failOnce(at.double.url) },
      change: keys.change,
      alignKeyExpiry: () => assert.fail(),
      auditStripe: () => assert.fail(),
      countRequests: () => assert.fail(),
      secrets: () => assert.fail(),
      onFailure: () => assert.fail(),
    })
    await assert.rejects(billing.openStripe().subscriptions.list(), /cannot load/)
    assert.deepEqual((await billing.openStripe().subscriptions.list()).data, [])
  })
})
