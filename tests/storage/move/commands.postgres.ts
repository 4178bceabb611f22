import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { createBackup } from '../../../lib/backup/create-backup.ts'
import { openSecrets } from '../../../lib/config/secrets.ts'
import { type Client, openReadOnly } from '../../../lib/db/connection.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { importDatabase } from '../../../lib/storage/move/import-database.ts'
import { withSource } from '../../../lib/storage/move/source.ts'
import { makeDataFolder, withClient } from '../../support/data-folder.ts'
import { openTestPool, startPostgres } from '../../support/database/postgres-server.ts'
import { makeApp } from '../../support/helpers.ts'
import { type Ended, runScript, type Settings } from '../../support/process.ts'
import { inherited, RUNTIME } from '../../support/runtime.ts'
import { closedAfterTest, shared } from '../../support/scene/freshly.ts'
import { sendAuth, signUp } from '../../support/sign-in.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { type AllRows, fillTables, rowsOfFile, rowsOfPostgres } from './all-tables.ts'

const USERS = 20
/** Enough for an import to take seconds. */
const MANY_ROWS = 50_000
const secret = 'a phrase that nobody guesses '.repeat(2)
const folder = tempFolder()
const newFolder = () => mkdtempSync(join(folder, 'folder-'))

const server = shared(startPostgres)
const closed = closedAfterTest()
let url: string
let pool: PgPool
let settings: Settings
beforeEach(async () => {
  url = await server.createDatabase()
  pool = closed(openTestPool(url))
  settings = { MERIDIAN_DATABASE_URL: url, MERIDIAN_SECRET: secret, MERIDIAN_DATA_DIR: folder }
})

/** Makes a data folder with rows in every table, of one of them many. */
async function makeLarge() {
  const made = await makeDataFolder(folder)
  withClient(made.database, (client) => {
    fillTables(client, USERS, 1)
    const insert = client.prepare(
      `INSERT INTO usage_by_operation (day, user_id, key_id, operation, status, requests)
       VALUES (?, 'user-1', 'key', 'locateAddress', 200, 1)`,
    )
    client.transaction(() => {
      for (let day = 100; day < MANY_ROWS; day++) insert.run(day)
    })()
  })
  return made
}

/** Runs the command, and kills it while it copies the table with many rows. */
async function killHalfway(args: readonly string[]): Promise<void> {
  const [program, ...options] = RUNTIME
  const env = { ...inherited(), ...settings }
  const child = spawn(program, [...options, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
    if (output.includes('usage_by_month')) child.kill('SIGKILL')
  })
  const [, signal] = await closed
  assert.equal(signal, 'SIGKILL', output)
}

async function rowsIn(file: string, of: (client: Client) => AllRows | Promise<AllRows>) {
  const client = openReadOnly(file)
  try {
    return await of(client)
  } finally {
    client.close()
  }
}

function assertMoved({ code, stdout, stderr }: Ended): void {
  assert.deepEqual([code, stdout.match(/DIFFERENT/)], [0, null], stderr)
}

describe('npm run import and npm run export', () => {
  it('move everything, although each is killed halfway and run again', async () => {
    const { dataDir, database, secrets } = await makeLarge()
    const original = await rowsIn(database, rowsOfFile)
    const importing = ['scripts/move/import.ts', dataDir]
    await killHalfway(importing)
    const imported = await runScript(importing, settings)
    assertMoved(imported)
    assert.match(imported.stdout, /^users +21 rows {2}ok$/m)
    assert.match(imported.stderr, /^Imported \d+ rows of \d+ tables, all the same on both sides/)
    const inPostgres = await rowsIn(database, (client) => rowsOfPostgres(pool, client))
    assert.deepEqual(inPostgres, original)

    const copy = join(folder, 'copy', 'app.db')
    const exporting = ['scripts/move/export.ts', '--to', copy]
    await killHalfway(exporting)
    assertMoved(await runScript(exporting, settings))
    assert.deepEqual(await rowsIn(copy, rowsOfFile), original)
    assert.deepEqual(openSecrets(join(folder, 'copy')), secrets)

    const again = await runScript(importing, settings)
    assert.equal(again.code, 1)
    assert.match(again.stderr, /already holds data \(.*\): name a new, empty one/)
  })

  it('keep keys and sessions good', async () => {
    const archive = join(folder, 'backups', 'app.tar.gz')
    await using old = await makeApp({ now: Date.now })
    const key = await old.makeKey()
    const token = await signUp(old, 'bob@example.com')
    await createBackup({ dataDir: old.dataDir, path: archive, now: Date.now(), geo: [] })
    const { code, stderr } = await runScript(['scripts/move/import.ts', archive], settings)
    assert.equal(code, 0, stderr)
    await using node = await makeApp({ env: { ...settings }, now: Date.now })
    assert.equal((await node.send('GET', '/v1/ip/81.2.69.160', { key })).status, 200)
    const headers = { authorization: `Bearer ${token}` }
    const { body } = await sendAuth(node, '/get-session', undefined, { headers })
    assert.equal(JSON.stringify(body).includes('bob@example.com'), true)
    const exporting = ['scripts/move/export.ts', '--to', join(folder, 'out', 'no.db')]
    const refused = await runScript(exporting, settings)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /in use by 1 server: stop them first/)
  })

  it('make a server wait that starts meanwhile, which then has all of it', async () => {
    const archive = join(folder, 'backups', 'waiting.tar.gz')
    await using old = await makeApp({ now: Date.now })
    const key = await old.makeKey()
    await createBackup({ dataDir: old.dataDir, path: archive, now: Date.now(), geo: [] })
    let starting: ReturnType<typeof makeApp> | undefined
    const onTable = () => {
      starting ??= makeApp({ env: { ...settings, MERIDIAN_DATA_DIR: newFolder() }, now: Date.now })
    }
    await withSource({ path: archive, dataDir: newFolder(), now: Date.now }, async (source) => {
      const moved = { ...source, pool, password: secret }
      await importDatabase({ ...moved, onRows: () => {}, onTable })
    })
    await using node = await starting
    assert.equal((await node?.send('GET', '/v1/ip/81.2.69.160', { key }))?.status, 200)
  })

  it('take the URL as an option, and print JSON', async () => {
    const { dataDir } = await makeDataFolder(folder)
    const { MERIDIAN_DATABASE_URL: _, ...others } = settings
    const importing = ['scripts/move/import.ts', '--to', url, '--json', dataDir]
    const { code, stdout, stderr } = await runScript(importing, others)
    assert.equal(code, 0, stderr)
    const tables: { table: string; rows: number; ok: boolean; sha256: string }[] =
      JSON.parse(stdout)
    const users = tables.find(({ table }) => table === 'users')
    assert.deepEqual([users?.rows, users?.ok, users?.sha256.length], [1, true, 64])
    assert.equal((await runScript(['scripts/move/import.ts', dataDir], others)).code, 2)
  })
})
