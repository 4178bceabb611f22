import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { requireUsableDatabase } from '../../lib/postgres/check-server.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { openPostgres } from '../../lib/storage/open-postgres.ts'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import {
  createDatabase,
  query,
  reloadSettings,
  startPostgres,
} from '../support/database/postgres-server.ts'
import { newDataFolder, runScript } from '../support/process.ts'
import { shared } from '../support/scene/freshly.ts'

const PASSWORD = crypto.randomUUID()
const secret = 'a phrase that nobody guesses '.repeat(2)

const server = shared(startPostgres)
let url: string
let name: string
beforeEach(async () => {
  url = await server.createDatabase()
  name = new URL(url).pathname.slice(1)
})

/** The URL of the database, but with other parts. */
function withParts(parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href
}

async function open(at: string): Promise<void> {
  const options = { version: 'test', now: Date.now, onError: () => {} }
  await using _opened = await openPostgres({ url: at, secret, staleKeysSeconds: 300 }, options)
}

/** Asserts that the start fails with one line that names the database, but no password. */
async function assertRefused(at: string, reason: RegExp): Promise<void> {
  await assert.rejects(open(at), ({ message }: Error) => {
    const { host, pathname } = new URL(at)
    const place = `Cannot use the PostgreSQL database ${pathname.slice(1)} at ${host}: `
    assert.ok(message.startsWith(place), message)
    assert.match(message.slice(place.length), reason)
    assert.doesNotMatch(message, new RegExp(`\n|${PASSWORD}|${secret}`))
    return true
  })
}

/** Changes a setting of the server while `work` runs. */
async function withSetting(setting: string, value: string, work: () => Promise<void>) {
  await query(server.url, `ALTER SYSTEM SET ${setting} = '${value}'`)
  await reloadSettings(server.url)
  try {
    await work()
  } finally {
    await query(server.url, `ALTER SYSTEM RESET ${setting}`)
    await reloadSettings(server.url)
  }
}

describe('the start on PostgreSQL', () => {
  it('succeeds on an empty database, and again', async () => {
    await open(url)
    await open(url)
  })

  it('is refused if nothing listens, or there is no such host', async () => {
    const port = String(await findFreePort())
    await assertRefused(
      withParts({ port, username: 'ada', password: PASSWORD }),
      /ECONNREFUSED.*; start PostgreSQL, or correct host and port$/,
    )
    await assertRefused(
      withParts({ hostname: 'db.invalid', username: 'ada', password: PASSWORD }),
      /(ENOTFOUND|EAI_AGAIN) db\.invalid; correct the host$/,
    )
  })

  it('is refused if the database does not exist', async () => {
    await assertRefused(
      withParts({ pathname: '/missing' }),
      /database "missing" does not exist; create it with createdb, or correct its name$/,
    )
  })

  it('is refused with a wrong password, or none', async () => {
    await query(server.url, `CREATE ROLE guarded LOGIN PASSWORD '${PASSWORD}'`)
    await query(server.url, LET_PASSWORDS_IN)
    await reloadSettings(server.url)
    const wrong = `${PASSWORD}-wrong`
    await assertRefused(
      withParts({ username: 'guarded', password: wrong }),
      /^password authentication failed for user "guarded"; correct user and password, or pg_hba/,
    )
    await assertRefused(withParts({ username: 'guarded' }), /; add the password$/)
  })

  it('is refused if TLS is wanted, but not offered', async () => {
    await assertRefused(
      withParts({ search: '?sslmode=verify-full' }),
      /does not support SSL connections; turn ssl on there, or set sslmode=disable$/,
    )
  })

  it('is refused by a server that is too old or too new', async () => {
    const state = { encoding: 'UTF8', isStandby: false, isReadOnly: false, fsync: 'on' }
    for (const [version, major] of [
      ['14.2', 14],
      ['19beta1', 19],
    ] as const) {
      await assert.rejects(
        requireUsableDatabase(answering({ ...state, version, major })),
        new RegExp(`its version is ${version}; use PostgreSQL 15 to 18$`),
      )
    }
  })

  it('is refused with an encoding that lacks characters', async () => {
    const latin = `latin_${name}`
    const encoded = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    await query(server.url, `CREATE DATABASE ${latin} ${encoded}`)
    await assertRefused(
      withParts({ pathname: `/${latin}` }),
      /^its encoding is LATIN1; create a database with ENCODING 'UTF8' TEMPLATE template0$/,
    )
  })

  it('is refused without the right to create tables', async () => {
    await query(server.url, 'CREATE ROLE "Some reader" LOGIN')
    await assertRefused(
      withParts({ username: 'Some reader' }),
      /^Some reader may not create tables; run GRANT CREATE ON SCHEMA public TO "Some reader"$/,
    )
    await query(url, 'GRANT CREATE ON SCHEMA public TO "Some reader"')
    await open(withParts({ username: 'Some reader' }))
  })

  it('is refused without a schema', async () => {
    await query(url, 'DROP SCHEMA public')
    await assertRefused(url, /^no schema in the search_path of meridian exists; create one$/)
  })

  it('is refused if transactions only read', async () => {
    await query(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    await assertRefused(url, /^its transactions only read; turn default_transaction_read_only off$/)
  })

  it('is refused if a crash could lose what was acknowledged', async () => {
    await withSetting('fsync', 'off', () =>
      assertRefused(url, /^fsync is off: a crash would lose what .*; turn it on$/),
    )
    await query(url, `ALTER DATABASE ${name} SET synchronous_commit = off`)
    await assertRefused(url, /^synchronous_commit is off: .*; set it to on for the server, the d/)
  })

  it('is refused if a failover could lose what was acknowledged', async () => {
    await query(url, `ALTER DATABASE ${name} SET synchronous_commit = local`)
    await open(url)
    await withSetting('synchronous_standby_names', 'other', () =>
      assertRefused(url, /^synchronous_commit is local: a failover to a standby would lose /),
    )
  })

  it('is refused by a schema of a newer release', async () => {
    await open(url)
    await query(url, 'UPDATE schema_version SET number = 9999, usable_from = 9998')
    await assertRefused(url, /^its schema version is 9999, .*; use a newer release$/)
  })

  it('prints one line and exits with 1 if it is refused', async () => {
    const { settings, remove } = newDataFolder()
    const port = String(await findFreePort())
    const { code, stderr, stdout } = await runScript(['server.ts'], {
      ...settings,
      MERIDIAN_DATABASE_URL: withParts({ port, username: 'ada', password: PASSWORD }),
      MERIDIAN_SECRET: secret,
    })
    remove()
    assert.equal(code, 1)
    assert.match(stderr, /^Cannot use the PostgreSQL database \w+ at 127\.0\.0\.1:\d+: .*\n$/)
    assert.equal(`${stdout}${stderr}`.includes(PASSWORD), false)
  })

  // This test is the last one, since the server is read-only from then on.
  it('is refused by a standby', async () => {
    await createDatabase(server.url)
    await server.becomeStandby()
    await assertRefused(url, /^it is a standby, which only reads; name the primary$/)
  })
})

/** Writes a pg_hba.conf that asks one role for its password. */
const LET_PASSWORDS_IN = `DO $$ BEGIN EXECUTE format(
  'COPY (VALUES (%L), (%L)) TO %L',
  'host all guarded 127.0.0.1/32 scram-sha-256',
  'host all all 127.0.0.1/32 trust',
  current_setting('hba_file')
); END $$`

/** A server that answers every statement with this state. */
function answering(state: object): PgPool {
  const connection = {
    query: async () => ({ rows: [[state]], changes: 0 }),
    runScript: async () => {},
  }
  return {
    use: (work) => work(connection),
    listen: async () => new AsyncDisposableStack(),
    [Symbol.asyncDispose]: async () => {},
  }
}
