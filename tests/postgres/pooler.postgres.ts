import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkNotices } from '../../lib/postgres/check-notices.ts'
import { openPostgres } from '../../lib/storage/open-postgres.ts'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { openTestPool, query, startPostgres } from '../support/database/postgres-server.ts'
import { NOBODY } from '../support/runtime.ts'
import { shared } from '../support/scene/freshly.ts'
import { tempFolder } from '../support/temp-folder.ts'

/* Servers whose database is behind a PgBouncer. */

const LONG_MS = 60_000
const IGNORED = 'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout'

const server = shared(startPostgres)

interface Pooler extends AsyncDisposable {
  readonly url: string
}

/** Starts a PgBouncer in front of the database. */
async function startPooler(database: string, mode: string, setting = IGNORED): Promise<Pooler> {
  const folder = tempFolder()
  // PgBouncer refuses to run as root.
  chmodSync(folder, 0o755)
  const { hostname, port, pathname } = new URL(database)
  const own = await findFreePort()
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port} user=meridian
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
${setting}
`,
  )
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  // Debian puts it into a folder that is not on the PATH of all users.
  const env = { PATH: `${process.env['PATH']}:/usr/sbin` }
  const child = spawn('pgbouncer', [file], { ...user, env, stdio: 'ignore' })
  const url = `postgres://meridian@127.0.0.1:${own}${pathname}`
  await waitUntilReady(url, child)
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  const signal = AbortSignal.timeout(20_000)
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`)
    try {
      await query(url, 'SELECT 1')
      return
    } catch {
      await sleep(50, undefined, { signal })
    }
  }
}

async function open(url: string): Promise<AsyncDisposable> {
  const secret = 'a phrase that nobody guesses '.repeat(2)
  const options = { version: 'test', now: Date.now, onError: () => {} }
  return openPostgres({ url, secret, staleKeysSeconds: 300 }, options)
}

/** Whether notices fail to arrive. */
async function lacksNotices(url: string, longestMs: number): Promise<boolean> {
  await using pool = openTestPool(url)
  let isMissing = false
  const onMissing = () => {
    isMissing = true
  }
  await checkNotices(pool, onMissing, longestMs).ended
  return isMissing
}

describe('behind a pooler', () => {
  it('the start is refused if the pooler refuses our settings', async () => {
    await using pooler = await startPooler(await server.createDatabase(), 'session', '')
    const advice = 'use no pooler, or one in session mode that ignores '
    const refusal = new RegExp(`unsupported startup parameter: \\w+; ${advice}`)
    await assert.rejects(open(pooler.url), refusal)
  })

  it('in session mode, the service runs, and notices arrive', async () => {
    const database = await server.createDatabase()
    await using pooler = await startPooler(database, 'session')
    await using _opened = await open(pooler.url)
    assert.equal(await lacksNotices(pooler.url, LONG_MS), false)
    assert.equal(await lacksNotices(database, LONG_MS), false)
  })

  it('in transaction mode, no notice arrives', async () => {
    await using pooler = await startPooler(await server.createDatabase(), 'transaction')
    assert.equal(await lacksNotices(pooler.url, 1_000), true)
    const advice = /; use no pooler, or one in session mode$/
    try {
      // Newer PgBouncers keep prepared statements apart: then only a warning follows.
      await (await open(pooler.url))[Symbol.asyncDispose]()
    } catch (error) {
      assert.match(String(error), advice)
    }
  })
})
