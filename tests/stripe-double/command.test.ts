import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { inherited, LOADER } from '../support/runtime.ts'
import { sdkFor, startDouble } from './start.ts'

const VARIABLES = [
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'STRIPE_API_BASE',
  'STRIPE_PRICE_STARTER',
  'STRIPE_PRICE_PRO',
  'STRIPE_PRICE_STARTER_YEARLY',
  'STRIPE_PRICE_PRO_YEARLY',
  'STRIPE_PRICE_OVERAGE',
]

describe('npm run stripe', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`prints the variables, sends events and exits cleanly on ${signal}`, async () => {
      await using at = await startDouble()
      const child = start(['--port', '0', '--webhook', at.url])
      const variables = await readVariables(child.stdout)
      assert.deepEqual([...variables.keys()], VARIABLES)
      const { port } = new URL(variables.get('STRIPE_API_BASE') ?? '')
      const stripe = sdkFor(Number(port), variables.get('STRIPE_SECRET_KEY'))
      const pro = await stripe.prices.retrieve(variables.get('STRIPE_PRICE_PRO') ?? '')
      assert.equal(pro.unit_amount, 2900)
      const year = await stripe.prices.retrieve(variables.get('STRIPE_PRICE_PRO_YEARLY') ?? '')
      assert.equal(year.recurring?.interval, 'year')
      const overage = await stripe.prices.retrieve(variables.get('STRIPE_PRICE_OVERAGE') ?? '')
      assert.equal(overage.recurring?.usage_type, 'metered')
      const arrival = at.nextRequest()
      await stripe.customers.create()
      const { body, signature } = await arrival
      const secret = variables.get('STRIPE_WEBHOOK_SECRET') ?? ''
      assert.equal(stripe.webhooks.constructEvent(body, signature, secret).type, 'customer.created')
      child.kill(signal)
      // Windows has no signals: Node.js ends the process.
      const ending = process.platform === 'win32' ? [null, signal] : [0, null]
      assert.deepEqual(await once(child, 'close'), ending)
    })
  }

  it('prints its usage when an option is invalid', async () => {
    const child = start(['--port', 'abc'])
    const output = await text(child.stderr)
    assert.match(output, /^--port must be a port\n\nUsage: npm run stripe/)
    if (child.exitCode === null) await once(child, 'close')
    assert.equal(child.exitCode, 2)
  })
})

function start(options: readonly string[]) {
  const args = [...LOADER, 'scripts/stripe.ts', ...options]
  return spawn(process.execPath, args, { env: inherited() })
}

async function readVariables(output: NodeJS.ReadableStream): Promise<Map<string, string>> {
  const variables = new Map<string, string>()
  for await (const line of createInterface({ input: output })) {
    const [, name = '', value = ''] = /^export (\w+)=(\S+)$/.exec(line) ?? []
    variables.set(name, value)
    if (variables.size === VARIABLES.length) break
  }
  return variables
}
