import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { acceptStripeAccount } from '../../lib/billing/mirror/learn-account.ts'
import { findCustomer } from '../../lib/billing/subscription/customers.ts'
import { findSubscription } from '../../lib/billing/subscription/subscriptions.ts'
import type { StripeConfig } from '../../lib/config/config.ts'
import { openSecrets } from '../../lib/config/secrets.ts'
import { openDb } from '../../lib/db/open.ts'
import { audit } from '../../scripts/parts/accounts.ts'
import { findMismatches, mismatchText, openBilling } from '../../scripts/parts/billing.ts'
import { newSecretKey } from '../../stripe-double/ids.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { auditOf, methodOf, openShop, type Shop } from '../billing/shop.ts'
import { write } from '../support/database/sql.ts'
import { NOON } from '../support/helpers.ts'
import { newDataFolder, runScript } from '../support/process.ts'
import { freshly } from '../support/scene/freshly.ts'

// run: only on SQLite, because it runs commands on the data folder

/** What the command does, over a connection of its own while the server runs. */
function openCommand({ app }: Shop, changed: Partial<StripeConfig> = {}) {
  const { plans, config } = app.services
  const db = openDb(join(app.dataDir, 'app.db'))
  const secrets = async () => openSecrets(app.dataDir)
  const accounts = { db, plans, now: NOON, command: 'npm run billing', secrets }
  const billing = openBilling(accounts, { ...config.stripe, ...changed })
  const run = async (mode: 'compare' | 'repair') => {
    const found = await findMismatches(billing, accounts, mode)
    const listed = JSON.parse(mismatchText(found, mode, 'json'))
    return listed.map(({ kind, repair }: { kind: string; repair: string }) => [kind, repair])
  }
  return {
    list: () => run('compare'),
    table: async () =>
      mismatchText(await findMismatches(billing, accounts, 'compare'), 'compare', 'table'),
    repair: () => run('repair'),
    accept: () => acceptStripeAccount(billing, (userId, note) => audit(accounts, userId, note)),
    [Symbol.dispose]: () => db.$client.close(),
  }
}

const customerOf = async (shop: Shop) => findCustomer(shop.app.services.db, shop.userId)

describe('npm run billing', () => {
  const shop = freshly(openShop)

  it('finds nothing if database and Stripe agree', async () => {
    await shop.buy('pro')
    using command = openCommand(shop)
    assert.equal(await command.table(), 'The database agrees with Stripe\n')
    assert.deepEqual(await command.list(), [])
    assert.deepEqual(await command.repair(), [])
  })

  it('reads an outdated subscription again', async () => {
    const { id } = await shop.buy('pro')
    shop.double.switchDeliveries('drop', 100)
    await shop.stripe.subscriptions.cancel(id)
    using command = openCommand(shop)
    assert.deepEqual(await command.list(), [['outdated', 'can be repaired']])
    assert.deepEqual(await command.repair(), [['outdated', 'repaired']])
    assert.equal(await shop.row(), null)
    assert.deepEqual(await command.list(), [])
    const { app, action } = (await auditOf(shop)).at(-1) ?? {}
    assert.deepEqual([app, action], ['cli', 'subscription_ended'])
  })

  it('assigns a customer to the user whom its metadata names', async () => {
    await shop.buy('pro')
    const before = await customerOf(shop)
    await write(shop.app, 'DELETE FROM billing_customers')
    using command = openCommand(shop)
    assert.deepEqual(await command.list(), [['unassigned-customer', 'can be repaired']])
    assert.deepEqual(await command.repair(), [['unassigned-customer', 'repaired']])
    assert.equal((await customerOf(shop))?.customerId, before?.customerId)
    assert.equal((await shop.row())?.plan, 'pro')
    const rows = (await auditOf(shop)).filter(({ app }) => app === 'cli')
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['subscription_updated'],
    )
  })

  it('lists what only the operator can repair', async () => {
    const { id } = await shop.buy('pro')
    const { customer } = shop.atStripe(id)
    // The newest counts.
    shop.pass(10)
    await shop.stripe.subscriptions.create({
      customer: String(customer),
      default_payment_method: methodOf(shop, id),
      items: [{ price: shop.prices.starter }],
    })
    await shop.settled()
    const stranger = (await shop.stripe.customers.create({ metadata: { meridian_user: 'nobody' } }))
      .id
    const method = await shop.stripe.paymentMethods.attach('pm_card_visa', { customer: stranger })
    await shop.stripe.subscriptions.create({
      customer: stranger,
      items: [{ price: shop.prices.starter }],
      default_payment_method: method.id,
    })
    const { prices } = shop.app.services.config.stripe
    using command = openCommand(shop, { prices: { ...prices, STARTER: [] } })
    const kinds = (await command.list()).map(([kind]: [string]) => kind)
    assert.deepEqual(kinds.toSorted(), ['duplicate', 'unknown-price', 'unknown-user'])
    assert.deepEqual(await command.repair(), await command.list())
    const table = await command.table()
    assert.match(table, /^Kind +User +Customer +Detail +Repair$/m)
    assert.match(table, /pays for sub_\w+ besides sub_/)
  })

  it('moves to another Stripe account only with --accept-account', async () => {
    await shop.buy('pro')
    await shop.app.services.reconciliation.run()
    await using other = await startStripeDouble({ realNow: shop.now })
    using command = openCommand(shop, { apiBase: other.url })
    const [[kind, how]] = await command.list()
    assert.deepEqual([kind, how], ['wrong-account', null])
    assert.deepEqual(await command.repair(), [['wrong-account', null]])
    assert.equal((await shop.row())?.plan, 'pro')
    const { customerId } = (await customerOf(shop)) ?? {}
    assert.deepEqual(await command.accept(), [customerId])
    assert.equal(await findSubscription(shop.app.services.db, shop.userId), null)
    assert.deepEqual(await command.list(), [])
    const entry = { app: 'cli', action: 'release_customer', detail: null }
    assert.deepEqual((await auditOf(shop)).at(-1), entry)
  })

  it('runs beside the server', async () => {
    await shop.buy('pro')
    const { stdout } = await runScript(['scripts/billing.ts', '--repair', '--json'], {
      MERIDIAN_DATA_DIR: shop.app.dataDir,
      STRIPE_SECRET_KEY: newSecretKey(),
      STRIPE_API_BASE: shop.double.url,
      STRIPE_PRICE_PRO: shop.prices.pro,
    })
    assert.equal(stdout, '[]\n')
  })

  it('says what it needs', async (t) => {
    const { dataDir, settings, remove } = newDataFolder()
    t.after(remove)
    openDb(join(dataDir, 'app.db')).$client.close()
    const without = await runScript(['scripts/billing.ts'], settings)
    assert.match(without.stderr, /^STRIPE_SECRET_KEY is not set$/m)
    const alone = await runScript(['scripts/billing.ts', '--accept-account'], settings)
    const refusal = /cannot include --accept-account without --repair[\s\S]*Usage: npm run/
    assert.match(alone.stderr, refusal)
  })
})
