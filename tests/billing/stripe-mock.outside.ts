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
import { once as atMostOnce } from '../../lib/parts/once.ts'
import { newSecretKey } from '../../stripe-double/ids.ts'
import { findSpec, readSpec } from '../stripe-double/stripe-spec.ts'
import { inherited, LOADER } from '../support/runtime.ts'

const isInstalled = spawnSync('stripe-mock', ['-version']).error === undefined
/** The tests that record their calls. */
const RECORDED = ['tests/stripe-double/*.test.ts', 'tests/billing/**/*.test.ts']

const spec = findSpec()
const skip = isInstalled ? false : 'stripe-mock is not installed'

/** A parameter that is an object only in a newer version of Stripe's API than that of stripe-mock. */
const NEWER = /billing_cycle_anchor(%5D|\])?(%5B|\[)type/

interface Call {
  readonly method: string
  readonly path: string
  readonly body: string
  readonly status: number
  readonly answer: unknown
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
    const taken = (await acceptedCalls()).filter(({ body }) => !NEWER.test(body))
    const refused: string[] = []
    for (const call of taken) {
      const error = await replay(socket, call)
      if (error !== null) refused.push(`${call.method} ${call.path} ${call.body}: ${error}`)
    }
    assert.deepEqual(refused, [])
  })

  it('refuses parameters that Stripe does not know', async () => {
    const call = { method: 'POST', path: '/v1/customers', body: 'nickname=ada' }
    assert.match((await replay(socket, call)) ?? '', /additional properties are not allowed/)
  })
})

/**
 * How the double's answers, which are of the API version 2026-10-28.endive, differ from Stripe's document
 * of 2026-08-26.dahlia. Fields that are new in endive are no difference: the SDK's types check them.
 */
const DIFFERENCES: readonly string[] = []

describe('the OpenAPI document of Stripe', {
  skip: spec === null && 'no document of Stripe',
}, () => {
  it('describes every answer that the double gives in tests', async () => {
    assert.ok(spec)
    const differencesOf = readSpec(spec)
    const differences = new Set<string>()
    for (const call of await acceptedCalls()) {
      const operation = `${call.method} ${call.path.replace(/\?.*/, '').replaceAll(/\w+_\w{8,}/g, '*')}`
      for (const one of differencesOf(call)) differences.add(`${operation} ${one}`)
    }
    assert.deepEqual([...differences].sort(), DIFFERENCES)
  })

  it('does not describe an answer without a required field, or with a field of another kind', () => {
    assert.ok(spec)
    const differencesOf = readSpec(spec)
    const call = { method: 'GET', path: '/v1/customers/cus_1' }
    const answer = { id: 'cus_1', object: 'customer', created: 1, livemode: false }
    assert.deepEqual(differencesOf({ ...call, answer }), [])
    assert.notDeepEqual(differencesOf({ ...call, answer: { ...answer, created: 'now' } }), [])
    assert.notDeepEqual(differencesOf({ ...call, answer: { id: 'cus_1' } }), [])
  })
})

/**
 * Runs the tests that record their calls, once. Returns those of Stripe's API v1 that the double accepted: neither
 * the document nor stripe-mock has API v2.
 */
const acceptedCalls = atMostOnce(async (): Promise<Call[]> => {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-calls-'))
  try {
    const file = join(folder, 'calls')
    await runTests(file)
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    const calls: Call[] = lines.map((line) => JSON.parse(line))
    const accepted = calls.filter(({ path, status }) => status === 200 && path.startsWith('/v1/'))
    assert.ok(accepted.length > 100)
    return accepted
  } finally {
    rmSync(folder, { recursive: true })
  }
})

async function runTests(file: string): Promise<void> {
  const args = [...LOADER, 'tests/run.ts', 'test', ...RECORDED]
  const env = { ...inherited(), STRIPE_CALLS_FILE: file }
  const child = spawn(process.execPath, args, { env })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  assert.equal(child.exitCode, 0, output)
}

/** Returns the error of stripe-mock, or null. */
async function replay(
  socketPath: string,
  { method, path, body }: Pick<Call, 'method' | 'path' | 'body'>,
): Promise<string | null> {
  const headers = {
    authorization: `Bearer ${newSecretKey()}`,
    ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }),
  }
  const sent = request({ socketPath, method, path, headers }).end(body)
  const [response] = await once(sent, 'response')
  const answer = await text(response)
  return response.statusCode === 200 ? null : JSON.parse(answer).error.message
}
