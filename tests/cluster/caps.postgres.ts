import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { readPlans } from '../../lib/config/plans.ts'
import type { Db } from '../../lib/db/open.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { createPgDb } from '../../lib/storage/pg-engine.ts'
import { createKey } from '../../scripts/parts/keys.ts'
import { openTestPool, query, startPostgres } from '../support/database/postgres-server.ts'
import { newDataFolder, type Running, startServer, untilHealthy } from '../support/process.ts'
import { shared } from '../support/scene/freshly.ts'
import { processFolder } from '../support/temp-folder.ts'

// run: alone

/*
 * Three server processes on a PostgreSQL that is stopped and started, as customers see them: some reach a cap
 * while all is well, some while PostgreSQL is away, and some always stay below their limit.
 */

const NODES = 3
const CAP = 500
/** In cents: the spending cap pays for this many units. */
const UNIT = 10
const UNITS = 100
/** How often each user who reaches the cap asks, at the three nodes in turn. */
const PER_SECOND = 60
/** docs/growth.md: what the other servers answer in two seconds. */
const UNSEEN = (2 * PER_SECOND * (NODES - 1)) / NODES
/** When PostgreSQL goes away, users have about this many answers in full left. */
const LEFT = 40

const PER_MINUTE = 60
const CALLERS = 15
/** Of the callers who stay below their limit: 40 a minute, each at one node. */
const PAUSE_MS = 1_500
/** How many answers each of them gets without PostgreSQL, and afterwards: nine seconds. */
const ANSWERS = 6
const LONGEST_MS = 10_000

const plansFile = join(processFolder(), 'plans.json')
const some = { price: 1, maxKeys: 1, maxSites: 1 }
writeFileSync(
  plansFile,
  JSON.stringify([
    { id: 'free', name: 'Free', ...some, price: 0, monthlyCap: 10 ** 6, requestsPerMinute: 1 },
    { id: 'capped', name: 'Capped', ...some, monthlyCap: CAP, requestsPerMinute: 10 ** 6 },
    { id: 'slow', name: 'Slow', ...some, monthlyCap: 10 ** 6, requestsPerMinute: PER_MINUTE },
  ]),
)
const settings = {
  MERIDIAN_SECRET: 'a phrase that nobody guesses '.repeat(2),
  MERIDIAN_PLANS: plansFile,
  MERIDIAN_DEMO: '0',
  STRIPE_PRICE_OVERAGE: 'price',
}

const server = shared(startPostgres)
const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
let url: string
const nodes: Running[] = []
const agent = new Agent({ keepAlive: true })
/** Ends all that still sends or waits if a test fails. */
const ending = new AbortController()
opened.defer(() => ending.abort())

const nodeAt = (index: number) => nodes[index % NODES] ?? assert.fail('there are no nodes')

/** A user, and what the nodes have answered. */
interface Caller {
  readonly email: string
  readonly key: string
  /** How many requests the spending cap pays for. */
  readonly units: number
  answered: number
  full: number
  /** Which nodes have reduced their last answer. */
  readonly reduced: Set<Running>
  /** Other statuses than 200. */
  readonly refused: number[]
}

/** Adds a user of the plan, who has one key. `units`: lets the user pay for so many requests over the cap. */
async function addCaller(db: Db, email: string, plan: string, units = 0): Promise<Caller> {
  const accounts = { db, plans: readPlans(plansFile), now: Date.now(), command: 'test' }
  const key = await createKey(accounts, { name: 'a', type: 'secret', scopes: null, email, plan })
  if (units > 0) {
    const { id } = (await findUserByEmail(db, email)) ?? assert.fail()
    const [start, end] = [Date.now() - 10 ** 7, Date.now() + 10 ** 9]
    for (const sql of [
      `INSERT INTO billing_customers (user_id, customer_id, created_at) VALUES ('${id}', 'cus_${id}', 0)`,
      `INSERT INTO subscriptions (user_id, id, item_id, plan, status, period_start, period_end, overages, currency)
        VALUES ('${id}', 'sub_${id}', 'si_${id}', 'capped', 'active', ${start}, ${end}, 1, 'usd')`,
      `INSERT INTO spending_caps (user_id, currency, amount) VALUES ('${id}', 'usd', ${UNIT * units})`,
    ])
      await db.execute({ sql, params: [] })
  }
  return { email, key, units, answered: 0, full: 0, reduced: new Set(), refused: [] }
}

async function lookUp(caller: Caller, node: Running): Promise<void> {
  const signal = AbortSignal.timeout(LONGEST_MS)
  const { status, body } = await new Promise<{ status: number | undefined; body: string }>(
    (resolve, reject) => {
      const headers = { 'x-api-key': caller.key }
      get(`${node.url}/v1/ip/81.2.69.160`, { agent, headers, signal }, (answer) => {
        text(answer).then((body) => resolve({ status: answer.statusCode, body }), reject)
      }).on('error', reject)
    },
  )
  if (status !== 200) {
    caller.refused.push(status ?? 0)
    return
  }
  caller.answered += 1
  if (body.includes('"degraded":true')) caller.reduced.add(node)
  else {
    caller.full += 1
    caller.reduced.delete(node)
  }
}

/** Sends requests at this pace, whether or not others are answered, until `holds`. */
async function sendUntil(caller: Caller, perSecond: number, holds: () => boolean): Promise<void> {
  const asked: Promise<void>[] = []
  for (let n = 0; !holds(); n++) {
    asked.push(lookUp(caller, nodeAt(n)))
    await sleep(1_000 / perSecond, undefined, { signal: ending.signal })
  }
  await Promise.all(asked)
}

const isReducedByAll = ({ reduced }: Caller) => reduced.size === NODES

/** What is stored of the user: requests, and how many of them are charged. */
async function readStored({ email }: Caller): Promise<number[]> {
  const [row] = await query(
    url,
    `SELECT sum(requests), sum(overage) FROM usage_by_period JOIN users ON id = user_id WHERE email = '${email}'`,
  )
  return (row ?? []).map(Number)
}

/** Waits until the nodes have written all that was answered. Returns how many requests are charged. */
async function readCharged(caller: Caller): Promise<number | undefined> {
  const signal = AbortSignal.timeout(LONGEST_MS)
  for (;;) {
    const [requests, charged] = await readStored(caller)
    assert.ok(Number(requests) <= caller.answered, `${requests} counted of ${caller.answered}`)
    if (requests === caller.answered) return charged
    await sleep(50, undefined, { signal })
  }
}

const untilAway = async ({ url: node }: Running) => {
  while ((await fetch(`${node}/health`)).status !== 503) await sleep(50)
}

describe('three servers whose users reach their caps', { timeout: 120_000 }, () => {
  let early: Caller[]
  let late: Caller[]
  let slow: Caller[]

  before(async () => {
    url = await server.createDatabase()
    await using pool = openTestPool(url, 1)
    await migratePg(pool)
    const db = createPgDb(pool)
    const price = `INSERT INTO overage_prices (id, currency, unit_amount, read_at)
      VALUES ('price', 'usd', '${UNIT}', ${Date.now()})`
    await db.execute({ sql: price, params: [] })
    const capped = async (name: string) => [
      await addCaller(db, `${name}-free@example.com`, 'capped'),
      await addCaller(db, `${name}-paid@example.com`, 'capped', UNITS),
    ]
    early = await capped('early')
    late = await capped('late')
    slow = []
    for (let n = 0; n < CALLERS; n++) slow.push(await addCaller(db, `slow${n}@example.com`, 'slow'))
    const starting = Array.from({ length: NODES }, async () => {
      const folder = newDataFolder()
      opened.defer(folder.remove)
      const all = { ...folder.settings, ...settings, MERIDIAN_DATABASE_URL: url }
      const running = await startServer(all)
      opened.defer(async () => void (await running.stop('SIGKILL')))
      return running
    })
    nodes.push(...(await Promise.all(starting)))
    await Promise.all(nodes.map(untilHealthy))
  })

  it('answer in full at most what others answer in two seconds over a cap, and charge up to the spending cap', async (t) => {
    await Promise.all(early.map((user) => sendUntil(user, PER_SECOND, () => isReducedByAll(user))))
    for (const user of early) {
      const { full, units, refused } = user
      t.diagnostic(JSON.stringify({ full, units }))
      assert.deepEqual(refused, [])
      assert.equal(await readCharged(user), units)
      const allowed = CAP + units
      assert.ok(full >= allowed && full <= allowed + UNSEEN, `${full} in full of ${allowed}`)
    }
  })

  it('keep the promises of docs/growth.md if PostgreSQL goes away meanwhile', async (t) => {
    let isOver = false
    const calm = slow.map(async (caller, n) => {
      while (!isOver) await Promise.all([lookUp(caller, nodeAt(n)), sleep(PAUSE_MS)])
    })
    const answered = () => Math.min(...slow.map((caller) => caller.answered))
    const untilAnswered = async (more: number) => {
      for (const enough = answered() + more; answered() < enough; ) await sleep(50)
    }
    const isNear = ({ full, units }: Caller) => full >= CAP + units - LEFT
    await Promise.all(late.map((user) => sendUntil(user, PER_SECOND, () => isNear(user))))
    const left = late.map(({ full, units }) => CAP + units - full)
    await server.stop()
    await Promise.all(nodes.map(untilAway))
    await Promise.all([
      ...late.map((user) => sendUntil(user, PER_SECOND, () => isReducedByAll(user))),
      untilAnswered(ANSWERS),
    ])
    const whileAway = late.map(({ full }) => full)
    await server.start()
    await Promise.all(nodes.map(untilHealthy))
    const before = late.map((user) => user.answered)
    const isDone = (user: Caller, at: number) => user.answered >= (before[at] ?? 0) + PER_SECOND
    await Promise.all([
      ...late.map((user, at) => sendUntil(user, PER_SECOND, () => isDone(user, at))),
      untilAnswered(ANSWERS),
    ])
    isOver = true
    await Promise.all(calm)
    assert.deepEqual(
      slow.flatMap(({ refused }) => refused),
      [],
      'callers below their limit',
    )
    for (const [at, user] of late.entries()) {
      const { full, units, refused } = user
      const most = CAP + units + (NODES - 1) * ((left[at] ?? 0) + UNSEEN) + UNSEEN
      t.diagnostic(JSON.stringify({ full, units, left: left[at], most, whileAway: whileAway[at] }))
      assert.deepEqual(refused, [])
      assert.ok(full >= CAP + units && full <= most, `${full} in full of ${most}`)
      assert.equal(full, whileAway[at], 'after PostgreSQL has returned')
      assert.equal(await readCharged(user), units)
    }
  })
})
