import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAccountReader } from '../../lib/billing/stripe/account-reader.ts'
import { readConfig } from '../../lib/config/config.ts'
import { checkTax } from '../../lib/doctor/check-tax.ts'
import type { StripeDouble } from '../../stripe-double/double.ts'
import { newSecretKey } from '../../stripe-double/ids.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { startDouble } from '../stripe-double/start.ts'

async function check({ url }: Pick<StripeDouble, 'url'>, tax: 'off' | 'automatic') {
  const { stripe } = readConfig({ STRIPE_API_BASE: url })
  const findings = await checkTax(createAccountReader(newSecretKey(), stripe), tax)
  return findings.map(({ state, text }) => `${state}: ${text}`)
}

describe('the check of Stripe Tax', () => {
  it('says whether tax is added, and whether the account is set up for it', async () => {
    await using at = await startDouble()
    assert.deepEqual(await check(at.double, 'automatic'), [
      'ok: Stripe Tax adds tax to new subscriptions',
    ])
    assert.deepEqual(await check(at.double, 'off'), [
      'ok: New subscriptions are sold without tax, although Stripe Tax is set up',
    ])
  })

  it('reports an account that cannot calculate tax', async () => {
    await using double = await startStripeDouble()
    assert.deepEqual(await check(double, 'automatic'), [
      'wrong: Stripe Tax is not set up (missing: head_office): nobody can buy',
    ])
    assert.deepEqual(await check(double, 'off'), [
      'ok: New subscriptions are sold without tax, and Stripe Tax is not set up',
    ])
  })

  it('warns if the key may not read the settings, unless tax is off', async () => {
    await using at = await startDouble()
    at.double.failCalls({ kind: '403' }, 2)
    assert.deepEqual(await check(at.double, 'automatic'), [
      'warning: Stripe Tax is not checked: its settings cannot be read',
    ])
    assert.deepEqual(await check(at.double, 'off'), [])
  })

  it('leaves it to the check of the account to report that Stripe does not answer', async () => {
    assert.deepEqual(await check({ url: 'http://127.0.0.1:1' }, 'automatic'), [])
  })
})
