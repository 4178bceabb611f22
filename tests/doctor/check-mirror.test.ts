import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkMirror } from '../../lib/doctor/check-mirror.ts'
import { newSecretKey } from '../../stripe-double/ids.ts'
import { openShop } from '../billing/shop.ts'
import { runScript } from '../support/process.ts'
import { allLines } from './findings.ts'

// run: only on SQLite, because it runs commands on the data folder

describe('the comparison with Stripe', () => {
  const mismatch = (kind: string) => {
    return { kind, user: 'user-1', customer: 'cus_1', detail: 'a detail' }
  }

  it('reports each kind once, with what to do', () => {
    assert.deepEqual(allLines(checkMirror([])), ['ok: The database agrees with Stripe'])
    const found = ['wrong-account', 'unknown-price', 'unknown-user', 'duplicate', 'duplicate']
    assert.deepEqual(allLines(checkMirror([...found, 'outdated'].map((kind) => mismatch(kind)))), [
      'wrong: wrong-account: user user-1, cus_1: a detail → check STRIPE_SECRET_KEY; after an intended move: npm run billing -- --repair --accept-account',
      'wrong: unknown-price: user user-1, cus_1: a detail → add it to STRIPE_PRICE_… of its plan, or restore the plan',
      'warning: unknown-user: user user-1, cus_1: a detail → at Stripe, cancel the subscription if its account was deleted here',
      'warning: duplicate: user user-1, cus_1: a detail (and 1 more) → at Stripe, cancel one, and limit customers to one subscription: see docs/billing.md',
      'warning: outdated: user user-1, cus_1: a detail → npm run billing -- --repair, or wait: the server repairs it every hour',
    ])
  })

  it('is part of npm run doctor, and changes nothing', async () => {
    await using shop = await openShop()
    const { id } = await shop.buy('pro')
    shop.double.switchDeliveries('drop', 100)
    await shop.stripe.subscriptions.cancel(id)
    const row = await shop.row()
    const { stdout } = await runScript(['scripts/doctor.ts'], {
      MERIDIAN_DATA_DIR: shop.app.dataDir,
      STRIPE_SECRET_KEY: newSecretKey(),
      STRIPE_API_BASE: shop.double.url,
      STRIPE_PRICE_PRO: shop.prices.pro,
    })
    assert.match(stdout, /^warning {2}Billing {5}outdated: .*pro here, no plan at Stripe$/m)
    assert.deepEqual(await shop.row(), row)
  })
})
