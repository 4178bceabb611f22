import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { widePlansFile } from '../support/plans-file.ts'
import { sharedServer } from '../support/scene/server.ts'
import { words } from '../support/words.ts'
import { startLoad } from './load.ts'

// run: alone

/* Attacks by slowhttptest while another address sends look-ups. */

const CONNECTIONS = 4_000
/** A busy machine opens fewer than CONNECTIONS, but this many are still an attack. */
const LEAST_CONNECTIONS = 500
const SECONDS = 8
const CLIENTS = 4
/** Options of each attack: it sends headers or bodies slowly, or reads answers slowly. */
const ATTACKS = {
  'slow headers': ['-H', '-t', 'GET', '/v1/ip/81.2.69.160'],
  'slow bodies': ['-B', '-s', '4000', '-t', 'POST', '/v1/telemetry/rum'],
  'slow reading': words('-X -w 10 -y 20 -n 1 -z 10 -k 3 /.well-known/openapi.json'),
}

let key: string
const settings = { MERIDIAN_PLANS: widePlansFile(), MERIDIAN_LOG_LEVEL: 'warn' }
const { server, addKey } = sharedServer(settings, async () => {
  key = await addKey()
})

/** Runs the attack to its end. Returns its output without colours. */
async function attack(args: readonly string[]): Promise<string> {
  const rate = String(CONNECTIONS / 4)
  const all = ['-c', String(CONNECTIONS), '-r', rate, '-i', '2', '-l', String(SECONDS), '-x', '24']
  const path = args.at(-1) ?? ''
  const child = spawn('slowhttptest', [...all, ...args.slice(0, -1), '-u', `${server.url}${path}`])
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it colours its output
  return output.replaceAll(/\u001b\[[\d;]*[A-Za-z]/g, '')
}

/** The counts that slowhttptest prints at the end. */
function countOf(output: string, state: string): number {
  return Number([...output.matchAll(new RegExp(`${state}: +(\\d+)`, 'g'))].at(-1)?.[1])
}

describe('slowhttptest', () => {
  for (const [name, args] of Object.entries(ATTACKS)) {
    it(`with ${name} makes no look-up of other clients fail`, async (t) => {
      const load = startLoad(server.url, key, CLIENTS, '127.0.1.200')
      const output = await attack(args)
      load.stop()
      await load.ended
      const made = countOf(output, 'connected') + countOf(output, 'closed')
      t.diagnostic(`${made} connections, ${load.answeredAt.length} look-ups answered`)
      assert.ok(made >= LEAST_CONNECTIONS, output.slice(-1_000))
      assert.deepEqual(load.others, [])
      assert.ok(load.answeredAt.length > 0)
    })
  }
})
