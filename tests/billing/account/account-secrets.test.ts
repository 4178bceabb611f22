import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as v from 'valibot'
import { readEverything } from '../../support/database/sql.ts'
import { recordingLog } from '../../support/helpers.ts'
import { makeBillingApp } from '../customers.ts'
import { billingRequests } from './account-requests.ts'

const Secret = v.object({ clientSecret: v.string() })
const Portal = v.object({ url: v.string() })

it('database and log contain no secret, tax id, card or address', async () => {
  const log = recordingLog()
  await using at = await makeBillingApp({ log })
  const ada = await at.addSubscriber()
  const { id: coupon } = await at.stripe.coupons.create({ percent_off: 10 })
  const promotion = { type: 'coupon', coupon } as const
  await at.stripe.promotionCodes.create({ promotion, code: 'WELCOME' })
  const answers = new Map<string, unknown>()
  for (const { id, method, path, body } of billingRequests) {
    answers.set(id, (await ada.send(method, path, { body })).body)
  }
  const wrong = { type: 'eu_vat', value: 'wrong-tax-id' }
  await ada.send('POST', '/v1/billing/tax-ids', { body: wrong })
  const declined = { paymentMethodId: 'pm_card_visa_chargeDeclined' }
  await ada.send('POST', '/v1/billing/payment-method', { body: declined })

  const { clientSecret } = v.parse(Secret, answers.get('createSetupIntent'))
  const { url } = v.parse(Portal, answers.get('openPortal'))
  const { secretKey = '' } = at.app.services.config.stripe
  const intent = clientSecret.replace(/_secret.*/, '')
  // The last four digits of a card alone may be part of a time or an id.
  const card = ['mastercard', 'last4', 'pm_']
  const values = ['DE123456789', wrong.value, '1 Example Street', ...card]
  const words = [secretKey, clientSecret, intent, url, ...values]
  assert.ok(words.every((word) => word.length > 2))

  const stored = await readEverything(at.app)
  // The search works: it finds texts that are there.
  assert.ok(stored.includes(ada.customer))
  assert.ok(stored.includes('create_setup_intent'))
  const lines = JSON.stringify([log.events, log.requests])
  assert.ok(lines.includes('/v1/billing/tax-ids'))
  assert.ok(log.events.length > 0)
  for (const word of words) {
    assert.ok(!stored.includes(word), `the database holds ${word}`)
    assert.ok(!lines.includes(word), `the log holds ${word}`)
  }
})

it('the audit log has an entry for every change', async () => {
  await using at = await makeBillingApp()
  const ada = await at.addSubscriber()
  for (const { method, path, body } of billingRequests) await ada.send(method, path, { body })
  assert.deepEqual(
    (await ada.audit()).map(({ action }) => action),
    ['open_portal', 'update_address', 'add_tax_id', 'create_setup_intent', 'set_payment_method'],
  )
})
