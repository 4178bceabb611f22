import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { type PostgresServer, startPostgres } from '../support/database/postgres-server.ts'
import { openServerDatabase } from '../support/database/test-database.ts'
import { makeApp, type TestApp } from '../support/helpers.ts'

const LOOK_UP = '/v1/ip/81.2.69.160'
const Usage = v.object({
  totalRequests: v.number(),
  dailyUsage: v.array(v.object({ requests: v.number() })),
})

let server: PostgresServer
const closing = new AsyncDisposableStack()
let url: string
let one: TestApp
let other: TestApp
let key: string

before(async () => {
  server = closing.use(await startPostgres())
  url = await server.createDatabase()
  const open = async () => closing.use(await makeApp({ database: await openServerDatabase(url) }))
  one = await open()
  other = await open()
  key = await one.makeKey({ email: 'ada@example.com' })
  while (other.services.keys.find(key, 0) === null) await sleep(10)
})
after(() => closing.disposeAsync())

async function lookUp(app: TestApp, times: number): Promise<void> {
  for (let sent = 0; sent < times; sent++) {
    const headers = { 'x-api-key': key }
    assert.equal((await app.send('GET', LOOK_UP, { headers })).status, 200)
  }
  await app.services.ledger.flush()
}

async function readUsage(app: TestApp) {
  const { body } = await app.send('GET', '/v1/account/me/usage', { key })
  const { totalRequests, dailyUsage } = v.parse(Usage, body)
  return { totalRequests, today: dailyUsage.at(-1)?.requests }
}

describe('a user who sends requests to one node only', () => {
  it('sees all of them on another node that knows the user already', async () => {
    await lookUp(one, 2)
    await lookUp(other, 3)
    assert.deepEqual(await readUsage(one), { totalRequests: 5, today: 5 })
    assert.deepEqual(await readUsage(other), { totalRequests: 5, today: 5 })
    await lookUp(other, 4)
    assert.deepEqual(await readUsage(one), { totalRequests: 9, today: 9 })
  })

  it('is billed for all of them by a node that the user has never used', async () => {
    await using third = await makeApp({ database: await openServerDatabase(url) })
    const user = await findUserByEmail(third.services.db, 'ada@example.com')
    const period = { start: Date.UTC(2026, 0, 1), end: Date.UTC(2026, 1, 1) }
    assert.equal(await third.services.billing.countRequests(user?.id ?? '', period), 9)
  })
})
