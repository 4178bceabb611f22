import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { newSecretKey } from '../../stripe-double/ids.ts'

const isInstalled = spawnSync('stripe-mock', ['-version']).error === undefined
/** The tests that record their calls. */
const RECORDED = ['tests/stripe-double/*.test.ts', 'tests/billing/**/*.test.ts']

const skip = isInstalled ? false : 'stripe-mock is not installed'

/** A parameter that is an object only in a newer version of Stripe's API than that of stripe-mock. */
const NEWER = /billing_cycle_anchor(%5B|\[)type/

interface Call {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly status: number
}

describe('stripe-mock', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-stripe-'))
  const socket = join(folder, 'mock.sock')
  let mock: ChildProcess

  before(async () => {
    mock = spawn('stripe-mock', ['-http-unix', socket])
    assert.ok(mock.stdout)
    for await (const line of createInterface({ input: mock.stdout })) {
      if (line.startsWith('Listening')) break
    }
  })
  after(async () => {
    mock.kill()
    await once(mock, 'close')
    rmSync(folder, { recursive: true })
  })

  it('accepts every request that the double accepts in tests', async () => {
    const file = join(folder, 'calls')
    await runTests(file)
    const calls: Call[] = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const taken = calls.filter(({ status, body }) => status === 200 && !NEWER.test(body))
    assert.ok(taken.length > 100)
    const refused: string[] = []
    for (const call of taken) {
      const error = await replay(socket, call)
      if (error !== null) refused.push(`${call.method} ${call.path} ${call.body}: ${error}`)
    }
    assert.deepEqual(refused, [])
  })

  it('refuses parameters that Stripe does not know', async () => {
    const call = { method: 'POST', path: '/v1/customers', body: 'nickname=ada', status: 400 }
    assert.match((await replay(socket, call)) ?? '', /additional properties are not allowed/)
  })
})

async function runTests(file: string): Promise<void> {
  const { PATH = '', HOME = '' } = process.env
  const args = ['--import', './jsx.ts', '--test', ...RECORDED]
  const child = spawn(process.execPath, args, { env: { PATH, HOME, STRIPE_CALLS_FILE: file } })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  assert.equal(child.exitCode, 0, output)
}

/** Returns the error of stripe-mock, or null. */
async function replay(socketPath: string, { method, path, body }: Call): Promise<string | null> {
  const headers = {
    authorization: `Bearer ${newSecretKey()}`,
    ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
  }
  const sent = request({ socketPath, method, path, headers }).end(body)
  const [response] = await once(sent, 'response')
  const answer = await text(response)
  return response.statusCode === 200 ? null : JSON.parse(answer).error.message
}
