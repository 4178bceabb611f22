import assert from 'node:assert/strict'
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { openTestPool } from '../support/database/postgres-server.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { checkInquiries, checkKeys, checkSites, readFrom } from './check.ts'
import { type Cluster, openCluster } from './cluster.ts'
import { newRecord, underLoad } from './load.ts'
import { type Prepared, prepare, SETTINGS } from './prepare.ts'

/*
 * A newer release migrates the database while servers of this one still run under load. The test plays the
 * newer release: its migration adds a table, and a column to each table. No release may do more to the one
 * before.
 */

const NODES = 2
const FOLDER = new URL('../../lib/postgres/migrations/', import.meta.url)
const names = readdirSync(FOLDER).toSorted()
const newest = Number(basename(names.at(-1) ?? '').slice(0, 4))
const padded = (number: number) => String(number).padStart(4, '0')

const NEXT = `-- Usable from ${padded(newest)}: servers of that release go on.
CREATE TABLE next_things (id TEXT COLLATE "C" PRIMARY KEY);
DO $$
DECLARE name TEXT;
BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN next_column BIGINT NOT NULL DEFAULT 7', name);
  END LOOP;
END $$;
`
/** Takes a table away, so that servers of this release cannot go on. */
const LATER = 'ALTER TABLE inquiries RENAME TO later_inquiries;'

const acknowledged = newRecord()
let cluster: Cluster
let given: Prepared
let openBefore = { lookUps: 0 }

/** Migrates like a release that has these files in addition to those of this one. */
async function migrateTo(...files: readonly string[]): Promise<string[]> {
  const folder = tempFolder()
  for (const name of names) copyFileSync(new URL(name, FOLDER), join(folder, name))
  for (const [at, sql] of files.entries()) {
    writeFileSync(join(folder, `${padded(newest + 1 + at)}-next.sql`), sql)
  }
  await using pool = openTestPool(given.databaseUrl)
  return await migratePg(pool, pathToFileURL(`${folder}/`))
}

describe('servers whose database a newer release has migrated', { timeout: 200_000 }, () => {
  before(async () => {
    cluster = await openCluster(NODES, SETTINGS, async (url) => {
      given = await prepare(url)
    })
    await underLoad({ cluster, ...given, acknowledged }, async () => {
      await sleep(2_000)
      assert.equal((await migrateTo(NEXT)).length, 1)
      await sleep(3_000)
      openBefore = { ...acknowledged.open }
      const node = cluster.nodeAt(0)
      await cluster.kill(node)
      await cluster.start(node)
      await sleep(3_000)
    })
  })
  after(() => cluster?.[Symbol.asyncDispose]())

  it('go on, and can be restarted', async (t) => {
    t.diagnostic(JSON.stringify({ ...openBefore, lookUps: acknowledged.lookUps.length }))
    assert.deepEqual([...acknowledged.broken], [])
    // Others may be answered 503 while the migration waits for transactions, and are sent again.
    assert.equal(openBefore.lookUps, 0)
    const { keys, sites, inquiries, beacons } = acknowledged
    assert.ok(keys.size > 2 && sites.size > 2 && inquiries.size > 2)
    assert.ok(beacons > 50)
    const read = readFrom(given.databaseUrl)
    await checkKeys(read, cluster, acknowledged)
    await checkSites(read, acknowledged)
    await checkInquiries(read, acknowledged)
  })

  it('refuse to start after a migration that removes what they need', async () => {
    assert.equal((await migrateTo(NEXT, LATER)).length, 1)
    const node = cluster.nodeAt(0)
    await cluster.kill(node)
    const refusal = new RegExp(`its schema version is ${newest + 2}, .*; use a newer release`)
    await assert.rejects(cluster.start(node), refusal)
  })
})
