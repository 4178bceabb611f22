import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findUserByEmail } from '../../../lib/accounts/users.ts'
import { readPlans } from '../../../lib/config/plans.ts'
import { distribute } from '../../../lib/postgres/citus/distribute.ts'
import { createPgDb } from '../../../lib/postgres/engine.ts'
import { createKey } from '../../../scripts/parts/keys.ts'
import { writeWidePlan } from '../../accounts/many-users.ts'
import {
  type CitusCluster,
  createCitusDatabase,
  LACKS_CITUS,
  startCitus,
} from '../../support/database/citus.ts'
import { openTestPool } from '../../support/database/postgres-server.ts'
import { newDataFolder, type Running, startServer } from '../../support/process.ts'
import { processFolder } from '../../support/temp-folder.ts'
import { read } from '../rum/telemetry.ts'

/*
 * Two servers on a coordinator with two workers, under load, while each of the workers is killed and comes
 * back.
 */

const SERVERS = 2
const DOWN_MS = 3_000
const BETWEEN_MS = 4_000
const SETTLED_MS = 90_000
const LONGEST_MS = 10_000
const BY_DAY = 'SELECT sum(look_ups) FROM usage_by_operation'
const TABLES = ['rum_hours', 'rum_sketches', 'rum_days', 'rum_paths']
const plansFile = join(processFolder(), 'plans.json')
writeWidePlan(plansFile)
const settings = {
  MERIDIAN_PLANS: plansFile,
  MERIDIAN_SECRET: 'a phrase that nobody guesses '.repeat(2),
  MERIDIAN_DEMO: '0',
  MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
}

/** The answers that clients got. */
const told = {
  ...{ beacons: 0, open: 0, refused: 0, lookUps: 0, openLookUps: 0 },
  broken: new Set<string>(),
}

describe('servers on Citus whose workers are killed', {
  skip: LACKS_CITUS,
  timeout: 240_000,
}, () => {
  const closing = new AsyncDisposableStack()
  let url = ''
  let key = ''
  let cluster: CitusCluster
  const servers: Running[] = []

  before(async () => {
    cluster = closing.use(await startCitus({ 'citus.recover_2pc_interval': '1s' }))
    url = await createCitusDatabase(cluster.urls)
    await prepare()
    for (let left = SERVERS; left > 0; left--) {
      const folder = newDataFolder()
      closing.defer(folder.remove)
      const server = await startServer({
        ...folder.settings,
        ...settings,
        MERIDIAN_DATABASE_URL: url,
      })
      closing.defer(async () => {
        await server.stop('SIGKILL')
      })
      servers.push(server)
    }
    const ending = new AbortController()
    const clients = servers.flatMap(({ url: to }, at) => [
      keepSending(ending.signal, (n) => sendBeacon(to, `/p${n % 50}`, at)),
      keepSending(ending.signal, () => lookUp(to)),
    ])
    for (const worker of cluster.workers) {
      await sleep(BETWEEN_MS)
      await worker.kill()
      await sleep(DOWN_MS)
      await worker.start()
    }
    await sleep(BETWEEN_MS)
    ending.abort()
    await Promise.all(clients)
  })
  after(() => closing.disposeAsync())

  /** Adds users with keys, and sites. */
  async function prepare(): Promise<void> {
    await using pool = openTestPool(url)
    await distribute({ pool, onTable: () => {} })
    const db = createPgDb(pool)
    const accounts = { db, plans: readPlans(plansFile), now: Date.now(), command: 'test' }
    key = await createKey(accounts, { email: 'ada@example.com', name: 'first', type: 'secret' })
    const user = await findUserByEmail(db, 'ada@example.com')
    // Of several shards.
    for (let n = 0; n < 20; n++) {
      await db.execute({
        sql: `INSERT INTO sites (id, user_id, name, host, created_at, is_first) VALUES (?, ?, ?, ?, 1, 1)`,
        params: [`shop-${n}`, user?.id, originOf(n), new URL(originOf(n)).host],
      })
    }
  }
  const originOf = (n: number) => `https://shop-${n}.example`
  const lookUp = async (to: string) => {
    const { status, body } = await send(`${to}/v1/ip/81.2.69.160`, {
      headers: { 'x-api-key': key },
    })
    if (status === 200) told.lookUps += 1
    else if (status === 0) told.openLookUps += 1
    else if (status !== 429) told.broken.add(`a look-up: ${status} ${body}`)
  }
  const sendBeacon = async (to: string, path: string, at: number) => {
    const headers = { origin: originOf((sent + at) % 20), 'x-forwarded-for': nextAddress() }
    const text = JSON.stringify({ path, deviceType: 'mobile', metrics: { lcp: 1_200, cls: 0 } })
    const { status, body } = await send(`${to}/v1/telemetry/rum`, {
      method: 'POST',
      headers,
      body: text,
    })
    if (status === 204) told.beacons += 1
    else if (status === 503) told.refused += 1
    else if (status === 0) told.open += 1
    else told.broken.add(`a beacon: ${status} ${body}`)
  }
  const count = async (sql: string) => {
    await using pool = openTestPool(url, 1)
    return Number((await read(pool, sql))[0]?.[0])
  }

  it('answer, or say that they cannot', (t) => {
    t.diagnostic(JSON.stringify(told))
    assert.deepEqual([...told.broken], [])
    assert.ok(told.beacons > 300, `${told.beacons} beacons`)
    assert.ok(told.lookUps > 300, `${told.lookUps} look-ups`)
    assert.ok(told.refused > 0)
  })

  it('lose no accepted beacon, and count none twice', async () => {
    const end = performance.now() + SETTLED_MS
    while ((await count('SELECT sum(samples) FROM rum_hours')) < told.beacons) {
      assert.ok(performance.now() < end, 'the beacons are not summed up')
      await sleep(500)
    }
    await sleep(3_000)
    for (const table of TABLES) {
      const counted = await count(`SELECT sum(samples) FROM ${table}`)
      const most = told.beacons + told.open + told.refused
      assert.ok(
        counted >= told.beacons && counted <= most,
        `${table}: ${counted} of ${told.beacons}`,
      )
    }
  })

  it('count every look-up once', async () => {
    const sql = 'SELECT coalesce(sum(requests), 0) FROM usage_by_operation WHERE status = 200'
    const end = performance.now() + SETTLED_MS
    while ((await count(`${sql} AND operation = 'locateAddress'`)) < told.lookUps) {
      assert.ok(performance.now() < end, 'the look-ups are not counted')
      await sleep(500)
    }
    await sleep(2_000)
    for (const all of [`${sql} AND operation = 'locateAddress'`, BY_DAY]) {
      const counted = await count(all)
      const most = told.lookUps + told.openLookUps
      assert.ok(counted >= told.lookUps && counted <= most, `${counted} of ${told.lookUps}`)
    }
  })
})

let sent = 0

/** Another one each time, since addresses are limited. */
function nextAddress(): string {
  sent += 1
  return `10.${sent >> 16}.${(sent >> 8) & 255}.${sent & 255}`
}

async function keepSending(signal: AbortSignal, step: (n: number) => Promise<void>): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    await step(n)
    await sleep(10)
  }
}

/** The status is 0 if there is no answer. */
async function send(url: string, init: RequestInit): Promise<{ status: number; body: string }> {
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(LONGEST_MS) })
    return { status: answer.status, body: await answer.text() }
  } catch {
    return { status: 0, body: '' }
  }
}
