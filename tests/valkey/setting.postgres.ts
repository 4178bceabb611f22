import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ask } from '../../lib/limits/buckets/bucket-store.ts'
import { chargeBuckets } from '../../lib/valkey/bucket-store.ts'
import { openValkeyConnection, type ValkeyConnection } from '../../lib/valkey/connection.ts'
import { type PostgresServer, startPostgres } from '../support/database/postgres-server.ts'
import { readValue } from '../support/database/sql.ts'
import { startValkey, type ValkeyServer } from '../support/database/valkey-server.ts'
import { makeApp, recordingLog, type TestApp } from '../support/helpers.ts'
import { newDataFolder, runScript } from '../support/process.ts'

const LOOK_UP = '/v1/ip/81.2.69.160'
const AWAY = 'cannot share the rate limits with the other nodes; each uses an equal part of them'
const secret = 'a phrase that nobody guesses '.repeat(2)

let postgres: PostgresServer
let server: ValkeyServer

before(async () => {
  postgres = await startPostgres()
  server = await startValkey()
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const settings = async () => ({
  MERIDIAN_DATABASE_URL: await postgres.createDatabase(),
  MERIDIAN_SECRET: secret,
  MERIDIAN_LIMITS_URL: server.url,
})

/** Asks for one request of ten a minute. */
const ASK: Ask = {
  id: 'ada',
  capacity: 10,
  windowMs: 60_000,
  debt: 0,
  returned: 0,
  need: 1,
  want: 0,
}

describe('a service with MERIDIAN_LIMITS_URL', () => {
  it('keeps buckets on that server alone', async () => {
    await using app = await makeApp({ env: await settings(), now: Date.now })
    const key = await app.makeKey({ plan: 'free' })
    for (let n = 0; n < 3; n++) {
      const { status } = await app.send('GET', LOOK_UP, { headers: { 'x-api-key': key } })
      assert.equal(status, 200)
    }
    const keys = await server.ask('KEYS *')
    assert.match(keys, /^\*2\r\n(\$\d+\r\nmeridian:bucket:\S+\r\n){2}/)
    assert.match(keys, /meridian:bucket:all:/)
    assert.equal(Number(await readValue(app, 'SELECT count(*) FROM buckets')), 0)
  })

  it('goes on while that server is away, logs that once, and uses it again by itself', async () => {
    const log = recordingLog()
    await using app = await makeApp({ env: await settings(), now: Date.now, log })
    const key = await app.makeKey()
    const lookUp = async () => {
      const { status } = await app.send('GET', LOOK_UP, { headers: { 'x-api-key': key } })
      assert.equal(status, 200)
    }
    const logged = () =>
      log.events.filter(({ message }) => message.includes(AWAY)).map(({ level }) => level)
    await lookUp()
    await server.stop()
    const signal = AbortSignal.timeout(30_000)
    while (logged().length === 0) {
      await lookUp()
      await sleep(20, undefined, { signal })
    }
    assert.equal((await app.send('GET', '/health/ready')).status, 200)
    // A busy disk may delay the write of the check.
    while ((await app.send('GET', '/health')).status !== 200) await sleep(20, undefined, { signal })
    await server.start()
    while (logged().length < 2) {
      await lookUp()
      await sleep(20, undefined, { signal })
    }
    assert.deepEqual(logged(), ['error', 'info'])
    // With few requests, the bucket is full again, and removed, within milliseconds.
    while (!(await server.ask('KEYS *')).includes('meridian:bucket:all:')) {
      await lookUp()
      signal.throwIfAborted()
    }
  })
})

describe('two services with MERIDIAN_LIMITS_URL', () => {
  it('share limits while PostgreSQL is away', async () => {
    const env = await settings()
    await using one = await makeApp({ env })
    await using other = await makeApp({ env })
    const apps = [one, other]
    const key = await one.makeKey({ plan: 'free' })
    const signal = AbortSignal.timeout(30_000)
    const isReady = ({ services }: TestApp) =>
      services.keys.find(key, 0) !== null && services.storage.meterStore.shared?.countNodes() === 2
    while (!apps.every(isReady)) await sleep(20, undefined, { signal })
    await postgres.stop()
    // Not as the option `key`, with which the fast path would get each request as well.
    const options = { headers: { 'x-api-key': key } }
    const asking = Array.from({ length: 30 }, (_, at) =>
      (at % 2 === 0 ? one : other).send('GET', LOOK_UP, options),
    )
    const statuses = (await Promise.all(asking)).map(({ status }) => status)
    await postgres.start()
    const answered = statuses.filter((status) => status === 200).length
    assert.ok(answered >= 10 && answered <= 11, statuses.join())
    assert.equal(statuses.filter((status) => status === 429).length, 30 - answered)
  })
})

describe('the buckets on that server', () => {
  let connection: ValkeyConnection
  beforeEach(async () => {
    await server.ask('FLUSHALL')
    connection = openValkeyConnection(server.url)
  })
  afterEach(() => connection[Symbol.asyncDispose]())
  const charge = (ask: Partial<Ask> = {}) => chargeBuckets(connection, [{ ...ASK, ...ask }], TERMS)
  const TERMS = { nodes: 1 }
  const lifetime = async () => Number(/^:(-?\d+)/.exec(await server.ask(`PTTL ${BUCKET}`))?.[1])
  const BUCKET = 'meridian:bucket:ada'

  it('refill by its clock, and expire once they are full', async () => {
    assert.deepEqual(await charge(), [{ granted: 1, spent: 1 }])
    const one = await lifetime()
    assert.ok(one > 0 && one <= 6_000, `${one} ms`)
    const [full] = await charge({ need: 20 })
    assert.equal(full?.granted, 9)
    const all = await lifetime()
    assert.ok(all > 6_000 && all <= 60_000, `${all} ms`)
    await charge({ need: 0, returned: 10 })
    assert.match(await server.ask(`EXISTS ${BUCKET}`), /^:0/)
    const quick = { capacity: 10, windowMs: 100 }
    assert.equal((await charge({ ...quick, need: 10 }))[0]?.granted, 10)
    while (/^:1/.test(await server.ask(`EXISTS ${BUCKET}`)));
    assert.equal((await charge({ ...quick, need: 10 }))[0]?.granted, 10)
  })

  it('are charged many at a time', async () => {
    const asks = Array.from({ length: 500 }, (_, at) => ({ ...ASK, id: `key ${at}`, need: at % 4 }))
    const grants = await chargeBuckets(connection, asks, TERMS)
    assert.deepEqual(
      grants.map(({ granted }) => granted),
      asks.map(({ need }) => need),
    )
  })

  it('are found again after the server forgot the script, and by another connection', async () => {
    await charge()
    assert.match(await server.ask('SCRIPT FLUSH'), /^\+OK/)
    assert.equal((await charge())[0]?.granted, 1)
    assert.match(await server.ask('CLIENT KILL TYPE normal SKIPME yes'), /^:\d/)
    // The first question after that may meet the connection that is being closed.
    const again = await charge().catch(() => charge())
    assert.equal(again[0]?.granted, 1)
    assert.ok(Number(again[0]?.spent) > 2)
  })

  it('that hold something else are taken for full', async () => {
    assert.match(await server.ask(`SET ${BUCKET} nonsense`), /^\+OK/)
    assert.deepEqual(await charge(), [{ granted: 1, spent: 1 }])
  })
})

describe('npm run doctor, with MERIDIAN_LIMITS_URL', () => {
  const folder = newDataFolder()
  after(folder.remove)
  const run = async () => {
    const { stdout } = await runScript(['scripts/doctor.ts'], {
      ...folder.settings,
      ...(await settings()),
    })
    return stdout
  }

  it('finds a server that can be used', async () => {
    assert.match(
      await run(),
      /^ok +Limits +(Redis|Valkey) \d+\.\d+\S* shares the rate limits among/m,
    )
  })

  it('warns if the server may remove buckets', async () => {
    await server.ask('CONFIG SET maxmemory 100mb')
    await server.ask('CONFIG SET maxmemory-policy allkeys-lru')
    assert.match(
      await run(),
      /^warning +Limits +.*\(maxmemory-policy allkeys-lru\): callers then get/m,
    )
  })

  it('finds that the server is away', async () => {
    await server.stop()
    assert.match(
      await run(),
      /^wrong +Limits +Cannot use the Valkey or Redis server at 127\.0\.0\.1:\d+: .*ECONNREFUSED/m,
    )
    await server.start()
  })
})
