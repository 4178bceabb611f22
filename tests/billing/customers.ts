import assert from 'node:assert/strict'
import type Stripe from 'stripe'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { insertCustomer } from '../../lib/billing/subscription/customers.ts'
import { sync } from '../../lib/billing/subscription/sync.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { newSecretKey } from '../../stripe-double/ids.ts'
import { seedPlans } from '../../stripe-double/plans.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { addPayer, recordCalls, sdkFor } from '../stripe-double/start.ts'
import type { Answer } from '../support/contract-check.ts'
import { readRows } from '../support/database/sql.ts'
import { type AppOptions, makeApp, NOON, type TestApp } from '../support/helpers.ts'
import type { SendOptions } from '../support/scene/send.ts'

/** The service with a Stripe double, but without a webhook. Both clocks say `NOON`. */
export async function makeBillingApp(options: AppOptions = {}) {
  const double = await startStripeDouble({ realNow: () => NOON, retryDelaysMs: [0, 0] })
  const { plans, overage } = seedPlans(double.world, readPlans(undefined).list)
  const prices = { starter: plans.get('starter') ?? '', pro: plans.get('pro') ?? '' }
  const env = {
    STRIPE_SECRET_KEY: newSecretKey(),
    STRIPE_API_BASE: double.url,
    STRIPE_PRICE_STARTER: prices.starter,
    STRIPE_PRICE_PRO: prices.pro,
    STRIPE_PRICE_OVERAGE: overage,
    ...options.env,
  }
  const app = await makeApp({ ...options, env })
  const stripe = sdkFor(double.port)
  return {
    app,
    double,
    stripe,
    prices,
    addUser: (email: string) => addUser(app, email),
    addCustomer: (email = 'ada@example.com') => addCustomer(app, stripe, email),
    /** Adds a customer with an active subscription to `plan`, paid by card. */
    addSubscriber: async (email = 'ada@example.com', plan: keyof typeof prices = 'pro') => {
      const ada = await addCustomer(app, stripe, email)
      const { customer } = ada
      const items = [{ price: prices[plan] }]
      const { id: subscription } = await stripe.subscriptions.create({ customer, items })
      await ada.sync()
      return { ...ada, subscription }
    },
    async [Symbol.asyncDispose]() {
      await app.close()
      recordCalls(double.calls())
      await double[Symbol.asyncDispose]()
    },
  }
}

export type BillingApp = Awaited<ReturnType<typeof makeBillingApp>>

/** Adds a user with the free plan and a key. */
async function addUser(app: TestApp, email: string) {
  const key = await app.makeKey({ email, plan: 'free' })
  const user = await findUserByEmail(app.services.db, email)
  assert.ok(user)
  return {
    key,
    userId: user.id,
    send: (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
      app.send(method, path, { key, ...options }),
    /** The user's actions in the audit log, oldest first. */
    audit: async () => {
      const sql = 'SELECT action, detail FROM audit_log WHERE actor_id = ? ORDER BY id'
      const rows = await readRows<[string, string | null]>(app, sql, user.id)
      return rows.map(([action, detail]) => ({ action, detail }))
    },
  }
}

async function addCustomer(app: TestApp, stripe: Stripe, email: string) {
  const user = await addUser(app, email)
  const customer = await addPayer(stripe)
  const { billing, db, now } = app.services
  await insertCustomer(db, { userId: user.userId, customerId: customer, createdAt: now() }).run()
  return { ...user, customer, sync: () => sync(billing, billing.openStripe(), user.userId) }
}
