import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFault } from '../../lib/db/fault.ts'
import { requireUsableDatabase } from '../../lib/postgres/check-server.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { nameDatabase } from '../../lib/postgres/pool.ts'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { openTestPool, startPostgres } from '../support/database/postgres-server.ts'
import { shared } from '../support/scene/freshly.ts'

const server = shared(startPostgres)

const hostOf = (url: string) => new URL(url).host
const urlOf = (...hosts: readonly string[]) => `postgres://meridian@${hosts.join(',')}/postgres`

/** The port of the server that answers, if it accepts writes. */
async function write(pool: PgPool): Promise<number> {
  const sql = 'CREATE TABLE IF NOT EXISTS written (at BIGINT)'
  const { rows } = await pool.use(async (connection) => {
    await connection.query(sql)
    return connection.query("SELECT current_setting('port')::int")
  })
  return Number(rows[0]?.[0])
}

async function untilWritten(pool: PgPool): Promise<number> {
  const signal = AbortSignal.timeout(30_000)
  for (;;) {
    const port = await write(pool).catch(() => null)
    if (port !== null) return port
    await sleep(20, undefined, { signal })
  }
}

describe('a URL of several hosts', () => {
  it('leads to the one that accepts writes, in any order, also once another one does', async () => {
    await using standby = await server.addStandby()
    const [primary, other] = [hostOf(server.url), hostOf(standby.url)]
    const nobody = `127.0.0.1:${await findFreePort()}`
    await using closing = new AsyncDisposableStack()
    const pools: PgPool[] = []
    for (const hosts of [
      [primary, other],
      [other, primary],
      [nobody, other, primary],
    ])
      pools.push(closing.use(openTestPool(urlOf(...hosts))))
    const [port, otherPort] = [primary, other].map((host) => Number(host.split(':')[1]))
    let heard = 0
    const changed = () => {
      heard += 1
    }
    const listening = await Promise.all(pools.map((pool) => pool.listen({ changed })))
    for (const listener of listening) closing.use(listener)
    for (const pool of pools) {
      assert.equal(await write(pool), port)
      await requireUsableDatabase(pool)
    }
    await server.kill()
    await Promise.all(pools.map((pool) => assert.rejects(write(pool), isFault)))
    const before = heard
    standby.promote()
    const written = await Promise.all(pools.map(untilWritten))
    assert.deepEqual(new Set(written), new Set([otherPort]))
    const signal = AbortSignal.timeout(30_000)
    while (heard < before + pools.length) await sleep(20, undefined, { signal })
    await server.start()
  })

  it('says that none accepts writes if all only read', async () => {
    await server.becomeStandby()
    await using pool = openTestPool(urlOf(hostOf(server.url), hostOf(server.url)))
    const reason = /it only reads, and no other host accepts writes/
    await assert.rejects(requireUsableDatabase(pool), reason)
  })

  it('is named in messages without user and password', () => {
    const url = 'postgres://ada:hidden@one.example,two.example:5433/meridian'
    const named = 'the PostgreSQL database meridian at one.example:5432, two.example:5433'
    assert.equal(nameDatabase(url), named)
  })
})
