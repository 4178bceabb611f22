import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Operation } from '../../lib/contract/operation.ts'
import { type OperationId, operations } from '../../lib/contract/operations.ts'
import { type Run, runSchemathesis } from './schemathesis.ts'
import { type Service, startService } from './service.ts'

/** The tested operations: schemathesis only reads the OpenAPI document, it does not test it. */
const tested: readonly Operation[] = operations.filter(({ id }) => id !== 'getOpenApi')

/** Fails unless every check passed and every operation was called. */
function checkRun(t: TestContext, { code, output, statuses }: Run): void {
  const all = Object.values(statuses).flatMap((byStatus) => Object.entries(byStatus))
  const total = count(all)
  assert.equal(code, 0, output)
  const share = (count(all.filter(([status]) => status < '300')) / total) * 100
  t.diagnostic(`${total} answers, ${share.toFixed(0)} % of them 2xx`)
  assert.deepEqual(Object.keys(statuses).sort(), tested.map(({ id }) => id).sort())
}

function count(all: readonly (readonly [string, number])[]): number {
  return all.reduce((sum, [, number]) => sum + number, 0)
}

/** Random requests rarely succeed here: they lack a signature, a code, a password, a mail server or the like. */
const RARELY_SUCCESSFUL: readonly OperationId[] = [
  'sendInquiry',
  'addUsageReceiver',
  'removeUsageReceiver',
  'receiveStripeEvent',
  'applyPromo',
  'setPaymentMethod',
  'renewKey',
  'rotateKey',
  'endSession',
  'changeEmail',
  'confirmEmail',
  'deleteAccount',
  'offerSecondFactor',
  'confirmSecondFactor',
  'renewRecoveryCodes',
  'removeSecondFactor',
]

/** The operations that never succeeded: the run shows only that they refuse requests. */
function neverSuccessful({ statuses }: Run): string[] {
  return tested
    .map(({ id }) => id)
    .filter((id) => !RARELY_SUCCESSFUL.some((other) => other === id))
    .filter((id) => Object.keys(statuses[id] ?? {}).every((status) => status >= '300'))
}

// Two at once: schemathesis sends one request after the other, on one core.
describe('the API, tested by schemathesis,', { concurrency: 2 }, () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('matches its OpenAPI document for keys with all scopes', async (t) => {
    const callers = { header: 'X-API-Key', credentials: service.keys } as const
    const run = await runSchemathesis(service.url, callers)
    checkRun(t, run)
    assert.deepEqual(neverSuccessful(run), [])
  })

  it('matches its OpenAPI document for sessions', async (t) => {
    const credentials = service.sessions.map((token) => ({ session: `Bearer ${token}` }))
    const run = await runSchemathesis(service.url, { header: 'Authorization', credentials })
    checkRun(t, run)
    assert.deepEqual(neverSuccessful(run), [])
  })

  it('matches its OpenAPI document for a key with geo:read only', async (t) => {
    const reader = { header: 'X-API-Key', credentials: [{ reader: service.reader }] } as const
    const run = await runSchemathesis(service.url, reader, ['--phases', 'examples,coverage'])
    checkRun(t, run)
    const done = tested.filter(({ id }) =>
      Object.keys(run.statuses[id] ?? {}).some((s) => s < '300'),
    )
    assert.deepEqual([...new Set(done.map(({ access }) => access))].sort(), ['geo:read', 'public'])
  })
})
