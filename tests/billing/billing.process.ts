import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import * as v from 'valibot'
import { readPlans } from '../../lib/config/plans.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { seedPlans } from '../../stripe-double/plans.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { newDataFolder, runScript, startServer } from '../support/process.ts'

const folder = newDataFolder()
afterEach(() => folder.remove())

const Page = v.object({ url: v.string() })
const Shown = v.object({ plan: v.object({ id: v.string() }) })

describe('a server that sells plans through Stripe', () => {
  it('finds a purchase made while it was down, and then follows events', async () => {
    await using double = await startStripeDouble()
    const { plans } = seedPlans(double.world, readPlans(undefined).list)
    const secret = newSigningSecret()
    const settings = {
      ...folder.settings,
      STRIPE_SECRET_KEY: newSecretKey(),
      STRIPE_WEBHOOK_SECRET: secret,
      STRIPE_API_BASE: double.url,
      STRIPE_PRICE_PRO: plans.get('pro') ?? '',
    }
    const made = await runScript(
      [
        'scripts/key.ts',
        '--email',
        'ada@example.com',
        '--name',
        'first',
        '--plan',
        'free',
        '--scopes',
        'all',
      ],
      settings,
    )
    const headers = { 'x-api-key': made.stdout.trim() }
    const planAt = async (url: string) => {
      const answer = await fetch(`${url}/v1/billing/subscription`, { headers })
      return v.parse(Shown, await answer.json()).plan.id
    }
    const first = await startServer(settings)
    const opened = await fetch(`${first.url}/v1/billing/subscription`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ planId: 'pro' }),
    })
    const { url: page } = v.parse(Page, await opened.json())
    await first.stop('SIGKILL')
    const card = new URLSearchParams({ card: '4242 4242 4242 4242' })
    const paid = await fetch(page, { method: 'POST', body: card, redirect: 'manual' })
    assert.equal(paid.status, 303)

    const second = await startServer(settings)
    while ((await planAt(second.url)) === 'free') await setTimeout(250)
    assert.equal(await planAt(second.url), 'pro')
    double.addWebhook(`${second.url}/v1/billing/webhook`, [secret])
    const [customer] = [...double.world.state.tables.customers.keys()]
    await fetch(`${double.url}/v1/customers/${customer}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${newSecretKey()}` },
    })
    await double.settled()
    assert.equal(await planAt(second.url), 'free')
    assert.equal((await second.stop('SIGTERM')).code, 0)
  })
})
