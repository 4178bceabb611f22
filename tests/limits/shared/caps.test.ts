import assert from 'node:assert/strict'
import { beforeEach, describe, it, mock } from 'node:test'
import { insertUser, newUser } from '../../../lib/accounts/users.ts'
import { toCapShares } from '../../../lib/contract/account/cap-shares.ts'
import { Ledger } from '../../../lib/db/ledger/ledger.ts'
import { createPgCounts } from '../../../lib/db/ledger/pg-pending-counts.ts'
import { createQueries } from '../../../lib/db/queries.ts'
import type { Metered } from '../../../lib/limits/meter.ts'
import { Meters } from '../../../lib/limits/meters.ts'
import { createPgMeterStore } from '../../../lib/limits/pg-meter-store.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { joinNodes } from '../../../lib/postgres/nodes/nodes.ts'
import { createPgEngine } from '../../../lib/storage/pg-engine.ts'
import { openMigratedPglite } from '../../support/database/pglite.ts'
import { NOON } from '../../support/helpers.ts'
import { shared } from '../../support/scene/freshly.ts'
import { NODES } from './nodes.ts'

const CAP = 500
const UNITS = 100
/** What each node answers between two writes. */
const A_SECOND = 20
/** docs/growth.md: what the other servers answer in two seconds. */
const UNSEEN = 2 * A_SECOND * (NODES - 1)

const pool = shared(openMigratedPglite)
let isAway = false
/** The database as nodes see it. */
const network: PgPool = {
  listen: () => assert.fail(),
  [Symbol.asyncDispose]: async () => {},
  use: (work) => (isAway ? Promise.reject(new Error('PostgreSQL is away')) : pool.use(work)),
}
const onError = mock.fn()
let userId: string
let nodes: Node[]
/** How many requests were answered in full. */
let full: number

async function openNode() {
  const { id } = await joinNodes(pool, 'test', -1)
  const ledger = new Ledger(createPgCounts({ pool: network, node: id, onError }), () => {})
  const store = createPgMeterStore({ pool: network, now: () => NOON, onError })
  return { ledger, meters: new Meters({ store, ledger, record: () => [] }, NOON) }
}
type Node = Awaited<ReturnType<typeof openNode>>

function caller(maxUnits: number | null): Metered {
  const overages = maxUnits && { maxUnits, spendingCap: maxUnits, currency: 'usd' }
  return {
    userId,
    plan: { requestsPerMinute: 100_000, maxKeys: 1, monthlyCap: CAP },
    paid: { start: NOON - 1, end: NOON + 1_000_000, interval: 'month', overages: overages || null },
    capShares: toCapShares(null),
    key: { id: 'key' },
  }
}

async function send({ meters }: Node, by: Metered, requests: number): Promise<void> {
  await meters.load(by, NOON)
  for (let sent = 0; sent < requests; sent++) {
    const meter = meters.open(by, NOON)
    assert.equal((await meter.takeOrAsk(NOON)).allowed, true)
    if (!meter.isOverCap()) full += 1
    meter.count()
  }
}

/** All nodes answer for some seconds. Each writes at another time. */
async function sendToAll(by: Metered, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    for (const node of nodes) {
      for (const other of nodes) await send(other, by, A_SECOND / NODES)
      await node.ledger.flush().catch(() => {})
    }
  }
}

/** Sends requests while the database is away. Each node has noticed. */
async function sendWhileAway(by: Metered, seconds: number): Promise<void> {
  isAway = true
  for (const { meters } of nodes) await meters.open(by, NOON).askStore()
  await sendToAll(by, seconds)
  isAway = false
  for (const { meters } of nodes) await meters.open(by, NOON).askStore()
}

async function stored() {
  const sql = 'SELECT requests, overage FROM usage_by_period'
  const { rows } = await pool.use((connection) => connection.query(sql))
  return rows[0]?.map(Number)
}

const writeAll = async () => {
  for (const { ledger } of nodes) await ledger.flush()
}

describe('caps of three nodes', () => {
  beforeEach(async () => {
    await pool.use((connection) =>
      connection.query('TRUNCATE users, nodes, usage_by_period CASCADE'),
    )
    const user = newUser({ email: 'ada@example.com', plan: 'free', now: NOON })
    await insertUser(createQueries(createPgEngine(pool).execute), user).run()
    userId = user.id
    isAway = false
    full = 0
    nodes = []
    for (let node = 0; node < NODES; node++) nodes.push(await openNode())
  })

  const sent = (seconds: number) => seconds * NODES * NODES * Math.ceil(A_SECOND / NODES)

  for (const maxUnits of [null, UNITS]) {
    const paid = maxUnits ?? 0
    const name = maxUnits === null ? 'the cap' : 'the spending cap'

    it(`answer in full at most what others answer in two seconds over ${name}, and never charge more`, async () => {
      await sendToAll(caller(maxUnits), 15)
      await writeAll()
      assert.deepEqual(await stored(), [sent(15), paid])
      assert.ok(full >= CAP + paid && full <= CAP + paid + UNSEEN, `${full} in full`)
    })

    it(`while PostgreSQL is away, answer in full what each knew to be left up to ${name}, and never charge more`, async () => {
      const by = caller(maxUnits)
      await sendToAll(by, 6)
      const left = CAP + paid - full
      await sendWhileAway(by, 20)
      const whileAway = full
      const most = CAP + paid + (NODES - 1) * (left + UNSEEN) + UNSEEN
      assert.ok(whileAway >= CAP + paid && whileAway <= most, `${whileAway} in full`)
      await writeAll()
      assert.deepEqual(await stored(), [sent(26), paid])
      await sendToAll(by, 5)
      await writeAll()
      assert.deepEqual(await stored(), [sent(31), paid])
      assert.equal(full, whileAway)
    })

    it(`answer in full, and charge for, the same as one server up to ${name} if one gets all requests, PostgreSQL away or not`, async () => {
      const by = caller(maxUnits)
      const [node] = nodes
      assert.ok(node)
      await send(node, by, 1)
      isAway = true
      await node.meters.open(by, NOON).askStore()
      await send(node, by, CAP - 1)
      assert.equal(full, CAP)
      isAway = false
      await node.meters.open(by, NOON).askStore()
      await node.ledger.flush()
      assert.deepEqual(await stored(), [CAP, 0])
      await send(node, by, UNITS)
      await node.ledger.flush()
      assert.equal(full, CAP + paid)
      assert.deepEqual(await stored(), [CAP + UNITS, paid])
    })
  }

  it('charge for all that is over the cap, though no node knew that it was', async () => {
    const by = caller(UNITS)
    await sendToAll(by, 6)
    isAway = true
    for (const node of nodes) await send(node, by, 60)
    isAway = false
    await writeAll()
    const [requests = 0, charged] = (await stored()) ?? []
    assert.equal(charged, requests - CAP)
  })

  it('answer all in full up to the cap, before and after PostgreSQL has returned', async () => {
    const by = caller(null)
    await sendToAll(by, 4)
    await sendWhileAway(by, 2)
    await writeAll()
    assert.equal(full, sent(6))
    const [node] = nodes
    assert.ok(node)
    await node.meters.refresh(by, NOON)
    await send(node, by, CAP - full)
    assert.equal(full, CAP)
  })

  it('charge for none that was within the cap when it was answered, though the cap is lower when it is written, and for all that was over it', async () => {
    const by = caller(UNITS)
    const [node] = nodes
    assert.ok(node)
    await send(node, by, 100)
    await send(node, { ...by, plan: { ...by.plan, monthlyCap: 80 } }, 10)
    await node.ledger.flush()
    assert.deepEqual(await stored(), [110, 10])
    await send(node, { ...by, plan: { ...by.plan, monthlyCap: 80 } }, 10)
    await send(node, by, 1)
    await node.ledger.flush()
    assert.deepEqual(await stored(), [121, 20])
  })
})
