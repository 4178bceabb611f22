import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import { makeSecrets } from '../../../lib/config/secrets.ts'
import { type Client, openReadOnly } from '../../../lib/db/connection.ts'
import { openDb } from '../../../lib/db/open.ts'
import { once } from '../../../lib/parts/once.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { joinNodes } from '../../../lib/postgres/nodes/nodes.ts'
import { createPgRumReader } from '../../../lib/rum/postgres/reader.ts'
import { replayJournal } from '../../../lib/rum/postgres/replay.ts'
import { createRumReader } from '../../../lib/rum/reader.ts'
import { openRumWriter } from '../../../lib/rum/writer.ts'
import { exportDatabase } from '../../../lib/storage/move/export-database.ts'
import { importDatabase } from '../../../lib/storage/move/import-database.ts'
import type { MovedRows } from '../../../lib/storage/move/rows.ts'
import { openPgSecrets } from '../../../lib/storage/pg-secrets.ts'
import { makeDraft, openNode, read as query, readSite, send } from '../../rum/postgres/telemetry.ts'
import { putEmptyDatabase, withClient } from '../../support/data-folder.ts'
import { EMPTY_ALL, openMigratedPglite } from '../../support/database/pglite.ts'
import { NOON } from '../../support/helpers.ts'
import { shared } from '../../support/scene/freshly.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { fillTables, rowsOfFile, rowsOfPostgres } from './all-tables.ts'

const folder = tempFolder()
const newFile = () => join(folder, `${randomUUID()}.db`)
const USERS = 3
const PASSWORD = randomUUID()
const secrets = makeSecrets()

const pool = shared(openMigratedPglite)
const run = (sql: string) => pool.use((connection) => connection.runScript(sql))
beforeEach(() => run(EMPTY_ALL))

function makeFile(fill: (client: Client) => void): string {
  const file = newFile()
  putEmptyDatabase(file)
  withClient(file, fill)
  return file
}

function read<Result>(file: string, work: (client: Client) => Result): Result {
  const client = openReadOnly(file)
  try {
    return work(client)
  } finally {
    client.close()
  }
}

const schemaOf = (client: Client) =>
  client.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all()

const inPostgres = (file: string) => read(file, (client) => rowsOfPostgres(pool, client))

async function importFile(file: string, moved: MovedRows[] = []): Promise<MovedRows[]> {
  const onTable = (rows: MovedRows) => moved.push(rows)
  await importDatabase({ file, secrets, pool, password: PASSWORD, onTable, onRows: () => {} })
  return moved
}

async function exportTo(file: string, options: Partial<Parameters<typeof exportDatabase>[0]> = {}) {
  const standard = { pool, file, nodes: 'must have stopped', password: PASSWORD } as const
  return exportDatabase({ ...standard, onTable: () => {}, onRows: () => {}, ...options })
}

async function exportFile(nodes: 'may run' | 'must have stopped' = 'must have stopped') {
  const file = newFile()
  await exportTo(file, { nodes })
  return file
}

describe('an import and an export', () => {
  it('give the same rows of every table, whatever they hold', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 12 }), fc.nat(), async (users, seed) => {
        await run(EMPTY_ALL)
        const file = makeFile((client) => fillTables(client, users, seed))
        const original = read(file, rowsOfFile)
        const empty = Object.keys(original).filter((table) => original[table]?.length === 0)
        if (users > 0) assert.deepEqual(empty, [])
        const moved = await importFile(file)
        const counted = new Map(moved.map(({ table, rows, ok }) => [table, ok && rows]))
        const wanted = new Map(moved.map(({ table }) => [table, original[table]?.length]))
        assert.deepEqual(counted, wanted)
        assert.equal(moved.length, Object.keys(original).length)
        assert.deepEqual(await inPostgres(file), original)
        const copy = newFile()
        assert.deepEqual(await exportTo(copy), secrets)
        assert.deepEqual(read(copy, rowsOfFile), original)
        assert.deepEqual(read(copy, schemaOf), read(file, schemaOf))
      }),
      { numRuns: 5 },
    )
  })
})

describe('an import', () => {
  const filled = () => makeFile((client) => fillTables(client, USERS, 1))

  it('leaves triggers and numbers as they are on a new database', async () => {
    await importFile(filled())
    const numbers = 'SELECT max(id), (SELECT max(revision) FROM access_changes) FROM audit_log'
    const [[last, revision] = []] = await query(pool, numbers)
    await run(`UPDATE users SET plan = 'other'`)
    await run(`INSERT INTO audit_log (app, actor_id, action, created_at) VALUES ('api', 'a', 'b', 1);
      INSERT INTO users (id, email, plan, created_at) VALUES ('new', 'new', 'free', 1)`)
    const later = `SELECT max(id),
      (SELECT count(*) FROM access_changes WHERE revision > ${Number(revision)}),
      (SELECT rowid FROM users WHERE id = 'new') FROM audit_log`
    assert.deepEqual(await query(pool, later), [[Number(last) + 1, USERS, USERS + 1]])
    await assert.rejects(run('DELETE FROM audit_log'), /audit rows cannot be deleted/)
  })

  it('refuses a database that holds data, and changes nothing', async () => {
    await run(`INSERT INTO known_plans (id, definition) VALUES ('free', '{}')`)
    const file = filled()
    const before = await inPostgres(file)
    const refusal = /already holds data \(known_plans\): name a new, empty one/
    await assert.rejects(importFile(file), refusal)
    assert.deepEqual(await inPostgres(file), before)
  })

  it('refuses the database of another program', async () => {
    await run('ALTER TABLE schema_version RENAME TO other_program')
    try {
      await assert.rejects(importFile(filled()), /already holds data/)
    } finally {
      await run('ALTER TABLE other_program RENAME TO schema_version')
    }
  })

  it('imports nothing if a copy differs', async () => {
    await run('ALTER TABLE known_plans ALTER COLUMN definition TYPE char(2000)')
    const file = filled()
    const moved: MovedRows[] = []
    try {
      const refusal = /^Error: The copy of known_plans differs: nothing was imported$/
      await assert.rejects(importFile(file, moved), refusal)
    } finally {
      await run('ALTER TABLE known_plans ALTER COLUMN definition TYPE text COLLATE "C"')
    }
    const differing = moved.filter(({ ok }) => !ok).map(({ table }) => table)
    assert.deepEqual(differing, ['known_plans'])
    assert.ok(Object.values(await inPostgres(file)).every(({ length }) => length === 0))
  })

  it('imports nothing, and names the table, if a row is refused', async () => {
    await run('ALTER TABLE sites ADD CONSTRAINT refusal CHECK (false)')
    const file = filled()
    try {
      await assert.rejects(importFile(file), /^Error: Cannot copy sites: .*refusal/)
    } finally {
      await run('ALTER TABLE sites DROP CONSTRAINT refusal')
    }
    assert.ok(Object.values(await inPostgres(file)).every(({ length }) => length === 0))
  })

  it('replaces U+0000, which texts in PostgreSQL cannot contain', async () => {
    const file = makeFile((client) => {
      fillTables(client, 1, 1)
      client.prepare('UPDATE inquiries SET message = ?').run('a\0b')
    })
    await importFile(file)
    assert.deepEqual(await query(pool, 'SELECT message FROM inquiries'), [['a\ufffdb']])
  })
})

describe('an export', () => {
  it('refuses another MERIDIAN_SECRET than the one of the servers', async () => {
    const exporting = exportTo(newFile(), { password: 'other' })
    await assert.rejects(exporting, /MERIDIAN_SECRET is not the one/)
  })

  beforeEach(() => openPgSecrets(pool, PASSWORD))

  it('refuses a database with a live node, and needs none to have left', async () => {
    const node = await joinNodes(pool, 'test', -1)
    await assert.rejects(exportFile(), /in use by 1 server: stop them first/)
    await exportFile('may run')
    await run('UPDATE nodes SET seen_at = seen_at - 11000')
    await exportFile()
    await node[Symbol.asyncDispose]()
    await exportFile()
  })

  it('refuses a database that a node has joined meanwhile, although it has ended', async () => {
    const joinAndEnd = async () => (await joinNodes(pool, 'test', -1))[Symbol.asyncDispose]()
    await assert.rejects(exportMeanwhile(joinAndEnd), /in use by 1 server/)
  })

  it('refuses a database with a node that was paused, and has worked again meanwhile', async () => {
    await joinNodes(pool, 'test', -1)
    await run('UPDATE nodes SET seen_at = seen_at - 22000')
    const goOn = () => run('UPDATE nodes SET seen_at = seen_at + 10000')
    await assert.rejects(exportMeanwhile(goOn), /in use by 1 server/)
    await exportFile()
  })

  /** Runs `act` once the rows are copied. */
  async function exportMeanwhile(act: () => Promise<unknown>): Promise<void> {
    let hasCopied = false
    const actOnce = once(act)
    const late: PgPool = {
      ...pool,
      use: async (work) => {
        const result = await pool.use(work)
        if (hasCopied) await actOnce()
        return result
      },
    }
    const onTable = () => {
      hasCopied = true
    }
    await exportTo(newFile(), { pool: late, onTable })
  }

  it('takes along the beacons that the nodes have not summed up', async () => {
    const nodes = [await openNode(pool), await openNode(pool)] as const
    const drafts = Array.from({ length: 120 }, (_, n) => ({ ...makeDraft(n), siteId: 'a' }))
    await send(nodes[0].writer, drafts.slice(0, 30))
    await send(nodes[1].writer, drafts.slice(30, 60))
    await nodes[0].checkpoint()
    await send(nodes[1].writer, drafts.slice(60, 90))
    await send(nodes[0].writer, drafts.slice(90))
    const { $client: client, ...db } = openDb(await exportFile('may run'))
    const options = { now: () => NOON, onError: assert.fail }
    await using writer = openRumWriter({ ...db, $client: client }, options)
    for (const { node } of nodes) await replayJournal(pool, node)
    const wanted = await readSite(nodes[0].writer, createPgRumReader(pool))
    assert.deepEqual(await readSite(writer, createRumReader({ $client: client })), wanted)
  })
})
