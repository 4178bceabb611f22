import { once } from 'node:events'
import * as v from 'valibot'
import { readPlans } from '../lib/plans.ts'
import type { StripeDouble } from '../stripe-double/double.ts'
import { newSecretKey, newSigningSecret } from '../stripe-double/ids.ts'
import { type SeededPrices, seedPlans } from '../stripe-double/plans.ts'
import { startStripeDouble } from '../stripe-double/start-double.ts'
import { checkOptions, splitOptions, TEXT } from './options.ts'
import { report, run } from './run.ts'

const USAGE = `Usage: npm run stripe -- [options]
Starts a Stripe for trying out billing: no account, no money. What it knows is lost when it ends.
  --port 12111    where it listens on 127.0.0.1; 0 = any
  --webhook URL   where it sends events; default http://127.0.0.1:8787/v1/billing/webhook`

const StripeOptions = v.strictObject({
  port: v.optional(v.pipe(v.string(), v.regex(/^\d{1,5}$/, 'must be a port')), '12111'),
  webhook: v.optional(
    v.pipe(v.string(), v.url('must be a URL')),
    'http://127.0.0.1:8787/v1/billing/webhook',
  ),
})

await run(async () => {
  const args = process.argv.slice(2)
  const values = splitOptions(args, { port: TEXT, webhook: TEXT }, USAGE)
  const { port, webhook } = checkOptions(StripeOptions, values, USAGE)
  await using double = await startStripeDouble({ port: Number(port) })
  const prices = seedPlans(double.world, readPlans(undefined).list)
  const secret = newSigningSecret()
  double.addWebhook(webhook, [secret])
  report(`Stripe double at ${double.url}, events go to ${webhook}`)
  report('Start Meridian with these variables:')
  process.stdout.write(environment(double, { prices, secret }))
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
})

function environment(
  { url }: StripeDouble,
  { prices, secret }: { prices: SeededPrices; secret: string },
): string {
  const variables = [
    ['STRIPE_SECRET_KEY', newSecretKey()],
    ['STRIPE_WEBHOOK_SECRET', secret],
    ['STRIPE_API_BASE', url],
    ...[...prices.plans].map(([plan, price]) => [`STRIPE_PRICE_${plan.toUpperCase()}`, price]),
    ['STRIPE_PRICE_OVERAGE', prices.overage],
  ]
  return variables.map(([name, value]) => `export ${name}=${value}\n`).join('')
}
