import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, beforeEach, describe, it } from 'node:test'
import { makeDraft, send as sendBeacons } from '../rum/postgres/telemetry.ts'
import {
  openTestPool,
  type PostgresServer,
  startPostgres,
} from '../support/database/postgres-server.ts'
import { makeApp } from '../support/helpers.ts'
import { newDataFolder, runScript, type Settings } from '../support/process.ts'

const EMAIL = 'ada@example.com'
const secret = 'a phrase that nobody guesses '.repeat(2)
const folder = newDataFolder()

let server: PostgresServer
let settings: Settings

before(async () => {
  server = await startPostgres()
})
after(async () => {
  await server[Symbol.asyncDispose]()
  folder.remove()
})
beforeEach(async () => {
  const url = await server.createDatabase()
  settings = { ...folder.settings, MERIDIAN_DATABASE_URL: url, MERIDIAN_SECRET: secret }
})

const openNode = () => {
  const { MERIDIAN_DATABASE_URL = '', MERIDIAN_SECRET = '' } = settings
  const env = { MERIDIAN_DATABASE_URL, MERIDIAN_SECRET, MERIDIAN_CONTACT: 'store' }
  return makeApp({ env, now: Date.now })
}

/** Runs a command, which must succeed. Returns its output. */
async function run(name: string, ...args: readonly string[]) {
  const { code, stdout, stderr } = await runScript([`scripts/${name}.ts`, ...args], settings)
  assert.equal(code, 0, `${name}: ${stdout}${stderr}`)
  return { stdout, stderr }
}

/** Runs a command, which must fail. Returns what it reports. */
async function fail(name: string, ...args: readonly string[]): Promise<string> {
  const { code, stderr } = await runScript([`scripts/${name}.ts`, ...args], settings)
  assert.equal(code, 1, `${name}: ${stderr}`)
  return stderr
}

describe('the commands, on PostgreSQL', () => {
  it('make users and keys before the first start, and touch no file', async () => {
    await run('user', '--email', EMAIL, '--plan', 'pro')
    const { stdout: key } = await run('key', '--email', EMAIL, '--name', 'web')
    assert.match((await run('user', '--list')).stdout, /ada@example\.com +pro +user +1 /)
    assert.equal((await run('contact')).stdout.split('\n').length, 2)
    assert.deepEqual(readdirSync(folder.dataDir), ['geo'])
    await using node = await openNode()
    const found = await node.send('GET', '/v1/ip/81.2.69.160', { key: key.trim() })
    assert.equal(found.status, 200)
  })

  it('make and revoke keys of running servers, which know it once the command has ended', async () => {
    await using node = await openNode()
    const key = (await run('key', '--email', EMAIL, '--name', 'web')).stdout.trim()
    const lookUp = async () => (await node.send('GET', '/v1/ip/81.2.69.160', { key })).status
    assert.equal(await lookUp(), 200)
    const [{ id }] = JSON.parse((await run('key', '--email', EMAIL, '--list', '--json')).stdout)
    await run('key', '--email', EMAIL, '--revoke', id)
    assert.equal(await lookUp(), 401)
  })

  it('delete an account themselves, or let a running server do so', async () => {
    await run('user', '--email', EMAIL)
    await run('user', '--email', EMAIL, '--delete', '--yes')
    await run('user', '--email', EMAIL)
    await using _node = await openNode()
    await run('user', '--email', EMAIL, '--delete', '--yes')
    assert.doesNotMatch((await run('user', '--list')).stdout, /ada@example\.com/)
  })

  it('find and reset passwords, and look up addresses', async () => {
    await run('user', '--email', EMAIL)
    assert.match((await run('user', '--email', EMAIL, '--link')).stdout, /\/app\/reset\?token=/)
    assert.match((await run('address-lists/locate', '81.2.69.160')).stdout, /"country"/)
    assert.match(await fail('billing'), /STRIPE_SECRET_KEY is not set/)
  })

  it('migrate, also while servers run', async () => {
    const dry = await run('migrate', '--dry-run')
    assert.match(dry.stdout, /^0024-tables\.sql$/m)
    assert.match(dry.stderr, /to apply; they were not tried/)
    assert.match((await run('migrate')).stderr, /^Applied 0024-tables\.sql/)
    assert.equal((await run('migrate')).stderr, 'The database is up to date\n')
  })

  it('check the database and its servers', async () => {
    assert.match(
      (await run('doctor')).stdout,
      /warning +Database +PostgreSQL \d.*, lacks 0024-tables\.sql, 0025/,
    )
    await using _node = await openNode()
    const { stdout } = await run('doctor')
    assert.match(stdout, /^ok +Clock /m)
    assert.match(stdout, /^ok +Database +PostgreSQL \d+\.\d+.*, \d+\.\d MB, up to date$/m)
    assert.match(stdout, /^ok +Database +1 server uses the database, of version /m)
    settings = { ...settings, MERIDIAN_SECRET: 'another phrase '.repeat(3) }
    const { stdout: other, code } = await runScript(['scripts/doctor.ts'], settings)
    assert.match(other, /^wrong +Database +MERIDIAN_SECRET is not the one/m)
    assert.equal(code, 1)
  })

  it('back up while servers run, to an archive that can be imported', async () => {
    const node = await openNode()
    const key = await node.makeKey({ email: EMAIL })
    const drafts = Array.from({ length: 20 }, (_, n) => makeDraft(n))
    await sendBeacons(node.services.storage.rum.writer, drafts)
    const archive = (await run('backup')).stdout.trim()
    await node.close()
    assert.match(
      await fail('restore', archive),
      /^MERIDIAN_DATABASE_URL is set: npm run import -- /,
    )
    settings = { ...settings, MERIDIAN_DATABASE_URL: await server.createDatabase() }
    await run('move/import', archive)
    await using copy = await openNode()
    assert.equal((await copy.send('GET', '/v1/ip/81.2.69.160', { key })).status, 200)
    const pool = openTestPool(settings['MERIDIAN_DATABASE_URL'] ?? '')
    const { rows } = await pool.use((connection) =>
      connection.query(`SELECT sum(count) FROM rum_counts WHERE label = 'accepted'`),
    )
    await pool[Symbol.asyncDispose]()
    assert.deepEqual(rows, [[20]])
  })
})
