import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Operation } from '../../lib/contract/operation.ts'
import { type OperationId, operations } from '../../lib/contract/operations.ts'
import { type Run, runSchemathesis } from './schemathesis.ts'
import { type Service, startService } from './service.ts'

/** schemathesis reads the description, and asks for it no more. */
const asked: readonly Operation[] = operations.filter(({ id }) => id !== 'getOpenApi')

/** Fails unless every check has passed, and every operation answered something. */
function checkRun(t: TestContext, { code, output, statuses }: Run): void {
  const all = Object.values(statuses).flatMap((byStatus) => Object.entries(byStatus))
  const total = count(all)
  assert.equal(code, 0, output)
  const share = (count(all.filter(([status]) => status < '300')) / total) * 100
  t.diagnostic(`${total} answers, ${share.toFixed(0)} % of them 2xx`)
  assert.deepEqual(Object.keys(statuses).sort(), asked.map(({ id }) => id).sort())
}

function count(all: readonly (readonly [string, number])[]): number {
  return all.reduce((sum, [, number]) => sum + number, 0)
}

/** What hardly says yes to a request made by chance: it needs somebody else, a code, a card or a live key. */
const NOT_BY_CHANCE: readonly OperationId[] = [
  'sendInquiry',
  'receiveStripeEvent',
  'applyPromo',
  'setPaymentMethod',
  'renewKey',
]

/** The operations that never said yes: nothing is known of them but that they refuse. */
function neverDone({ statuses }: Run): string[] {
  return asked
    .map(({ id }) => id)
    .filter((id) => !NOT_BY_CHANCE.some((other) => other === id))
    .filter((id) => Object.keys(statuses[id] ?? {}).every((status) => status >= '300'))
}

describe('the interface as schemathesis finds it', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  it('is what its description says, to keys that may do anything', async (t) => {
    const run = await runSchemathesis(service.url, {
      header: 'X-API-Key',
      credentials: service.keys,
    })
    checkRun(t, run)
    // The owner of the keys has a subscription already.
    assert.deepEqual(neverDone(run), ['createCheckout'])
  })

  it('is what its description says, to sessions', async (t) => {
    const tokens = service.sessions.map((token, user) => [`user ${user}`, `Bearer ${token}`])
    const run = await runSchemathesis(service.url, {
      header: 'Authorization',
      credentials: Object.fromEntries(tokens),
    })
    checkRun(t, run)
    assert.deepEqual(neverDone(run), [])
  })

  it('is what its description says, to a key for look-ups alone', async (t) => {
    const reader = { header: 'X-API-Key', credentials: { reader: service.reader } } as const
    const run = await runSchemathesis(service.url, reader, ['--phases', 'examples,coverage'])
    checkRun(t, run)
    const done = asked.filter(({ id }) =>
      Object.keys(run.statuses[id] ?? {}).some((s) => s < '300'),
    )
    assert.deepEqual([...new Set(done.map(({ access }) => access))].sort(), ['geo:read', 'public'])
  })
})
