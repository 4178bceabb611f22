import { once } from 'node:events'
import * as v from 'valibot'
import { readPlans } from '../lib/config/plans.ts'
import { newSecretKey, newSigningSecret } from '../stripe-double/ids.ts'
import { type SeededPrices, seedPlans } from '../stripe-double/plans.ts'
import { startStripeDouble } from '../stripe-double/start-double.ts'
import { checkOptions, readArguments, TEXT } from './parts/options.ts'
import { report, run } from './parts/run.ts'

const USAGE = `Usage: npm run stripe -- [options]
Starts a stand-in for Stripe to try billing without an account or money. Its data is lost on exit.
  --port 12111    port on 127.0.0.1; 0 for any free port
  --webhook URL   where to send events; default: http://127.0.0.1:8787/v1/billing/webhook`

const StripeOptions = v.strictObject({
  port: v.optional(
    v.pipe(
      v.string(),
      v.check((port) => /^\d{1,5}$/.test(port) && Number(port) <= 65_535, 'must be a port'),
    ),
    '12111',
  ),
  webhook: v.optional(
    v.pipe(v.string(), v.url('must be a URL')),
    'http://127.0.0.1:8787/v1/billing/webhook',
  ),
})

await run(async () => {
  const { values } = readArguments({ options: { port: TEXT, webhook: TEXT } }, USAGE)
  const { port, webhook } = checkOptions(StripeOptions, values, USAGE)
  await using double = await startStripeDouble({ port: Number(port) })
  const prices = seedPlans(double.world, readPlans(undefined).list)
  const secret = newSigningSecret()
  double.addWebhook(webhook, [secret])
  report(`Stripe double at ${double.url}, events go to ${webhook}`)
  report('Start Meridian with these variables:')
  process.stdout.write(environment(double.url, prices, secret))
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
})

function environment(url: string, prices: SeededPrices, secret: string): string {
  const variables = [
    ['STRIPE_SECRET_KEY', newSecretKey()],
    ['STRIPE_WEBHOOK_SECRET', secret],
    ['STRIPE_API_BASE', url],
    ...[...prices.plans].map(([plan, price]) => [`STRIPE_PRICE_${plan.toUpperCase()}`, price]),
    ...[...prices.yearly].map(([plan, price]) => [
      `STRIPE_PRICE_${plan.toUpperCase()}_YEARLY`,
      price,
    ]),
    ['STRIPE_PRICE_OVERAGE', prices.overage],
  ]
  return variables.map(([name, value]) => `export ${name}=${value}\n`).join('')
}
