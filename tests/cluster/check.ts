import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { openTestPool } from '../support/database/postgres-server.ts'
import type { LoadedNodes } from './cluster.ts'
import { type Acknowledged, askAll } from './load.ts'

/* Compares the answers that clients got with what is stored. */

const SETTLED_MS = 30_000

/** Reads the rows of a query. */
export type Read = (sql: string) => Promise<unknown[][]>

export function readFrom(databaseUrl: string): Read {
  return async (sql) => {
    await using pool = openTestPool(databaseUrl, 1)
    return (await pool.use((connection) => connection.query(sql))).rows
  }
}

export async function readNumber(read: Read, sql: string): Promise<number> {
  return Number((await read(sql))[0]?.[0])
}

function countBeacons(read: Read, table: string): Promise<number> {
  return readNumber(read, `SELECT sum(samples) FROM ${table}`)
}

/** Waits until the table has all beacons that were answered: survivors sum up what the dead have left. */
export async function untilCounted(read: Read, table: string, { beacons }: Acknowledged) {
  const deadline = performance.now() + SETTLED_MS
  while ((await countBeacons(read, table)) < beacons && performance.now() < deadline)
    await sleep(500)
}

export async function checkBeacons(read: Read, { beacons, open }: Acknowledged): Promise<void> {
  for (const table of ['rum_hours', 'rum_sketches', 'rum_days', 'rum_pages']) {
    const counted = await countBeacons(read, table)
    assert.ok(counted >= beacons, `${table}: ${beacons - counted} lost`)
    const most = beacons + open.beacons
    assert.ok(counted <= most, `${table}: ${counted} counted of at most ${most}`)
  }
}

export async function checkKeys(
  read: Read,
  cluster: LoadedNodes,
  acknowledged: Acknowledged,
): Promise<void> {
  const stored = new Set((await read("SELECT id FROM api_keys WHERE name = 'made'")).map(String))
  const { keys, revoked, unclear, open } = acknowledged
  const kept = [...keys.keys()].filter((id) => !revoked.has(id) && !unclear.has(id))
  assertAllIn(kept, stored)
  const back = [...revoked.keys()].filter((id) => stored.has(id))
  assert.deepEqual(back, [])
  assert.ok(stored.size <= kept.length + unclear.size + open.keys)
  const valid = kept.map((id) => keys.get(id) ?? '')
  assert.deepEqual(await askAll(cluster, valid, 200), [])
  assert.deepEqual(await askAll(cluster, revoked.values(), 401), [])
}

export async function checkSites(read: Read, { sites, open }: Acknowledged): Promise<void> {
  const rows = await read("SELECT id, name FROM sites WHERE id <> 'shop'")
  const stored = new Set(rows.map(([id]) => String(id)))
  assertAllIn(sites, stored)
  assert.ok(stored.size <= sites.size + open.sites)
  assert.equal(new Set(rows.map(([, name]) => name)).size, stored.size)
}

export async function checkInquiries(read: Read, { inquiries, open }: Acknowledged): Promise<void> {
  const stored = (await read('SELECT message FROM inquiries')).map(([message]) => String(message))
  const known = new Set(stored)
  assert.equal(known.size, stored.length)
  assertAllIn(inquiries, known)
  assert.ok(stored.length <= inquiries.size + open.inquiries)
}

function assertAllIn(acknowledged: Iterable<string>, stored: ReadonlySet<string>): void {
  const lost = [...acknowledged].filter((one) => !stored.has(one))
  assert.deepEqual(lost, [])
}
