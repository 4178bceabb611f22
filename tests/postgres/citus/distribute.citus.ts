import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { makeSecrets } from '../../../lib/config/secrets.ts'
import type { Client } from '../../../lib/db/client.ts'
import { openReadOnly } from '../../../lib/db/connection.ts'
import { exportDatabase } from '../../../lib/move/export-database.ts'
import { importDatabase } from '../../../lib/move/import-database.ts'
import { splitStatements } from '../../../lib/postgres/citus/statements.ts'
import { DISTRIBUTED } from '../../../lib/postgres/citus/tables.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { inTransaction } from '../../../lib/postgres/transaction.ts'
import { rowsOfFile, rowsOfPostgres } from '../../move/all-rows.ts'
import { fillTables } from '../../move/fill-tables.ts'
import { putEmptyDatabase, withClient } from '../../support/data-folder.ts'
import {
  type CitusCluster,
  createCitusDatabase,
  createOnAll,
  LACKS_CITUS,
  startCitus,
  within,
} from '../../support/database/citus.ts'
import { openTestPool, query } from '../../support/database/postgres-server.ts'
import { makeApp } from '../../support/helpers.ts'
import { runScript, type Settings } from '../../support/process.ts'
import { inherited, RUNTIME } from '../../support/runtime.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { makeDraft, read, send } from '../rum/telemetry.ts'

const USERS = 20
/** Enough that copying them takes a while. */
const MANY_ROWS = 60_000
const folder = tempFolder()
const secrets = makeSecrets()
const password = 'a phrase that nobody guesses '.repeat(2)
const quiet = { onRows: () => {}, onTable: () => {} }

describe('npm run migrate -- --distribute', { skip: LACKS_CITUS, timeout: 280_000 }, () => {
  let cluster: CitusCluster
  let url: string
  let pool: PgPool
  let closing = new AsyncDisposableStack()

  before(async () => {
    cluster = await startCitus()
  })
  after(async () => {
    await closing.disposeAsync()
    await cluster[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    await closing.disposeAsync()
    closing = new AsyncDisposableStack()
    url = await createCitusDatabase(cluster.urls)
    pool = closing.use(openTestPool(url))
  })

  const settingsOf = (database: string): Settings => ({
    MERIDIAN_DATABASE_URL: database,
    MERIDIAN_SECRET: password,
    MERIDIAN_DATA_DIR: folder,
  })
  const migrate = (database = url) =>
    runScript(['scripts/migrate.ts', '--distribute'], settingsOf(database))
  const distribute = async () => {
    const ended = await migrate()
    assert.equal(ended.code, 0, ended.stderr)
    return ended
  }
  const refusal = async (database: string) => {
    const { code, stderr } = await migrate(database)
    assert.equal(code, 1)
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
    return stderr
  }
  /** Makes a database file with rows in every table. */
  const makeFile = (fill: (client: Client) => void = () => {}) => {
    const file = join(folder, `${randomUUID()}.db`)
    putEmptyDatabase(file)
    withClient(file, (client) => {
      fillTables(client, USERS, 1)
      fill(client)
    })
    return file
  }
  const inFile = <Result>(file: string, work: (client: Client) => Result): Result => {
    const client = openReadOnly(file)
    try {
      return work(client)
    } finally {
      client.close()
    }
  }
  const importFile = (file: string) => importDatabase({ file, secrets, pool, password, ...quiet })
  const exportFile = async (nodes: 'may run' | 'must have stopped' = 'must have stopped') => {
    const file = join(folder, `${randomUUID()}.db`)
    await exportDatabase({ pool, file, nodes, password, ...quiet })
    return file
  }
  const inPostgres = (file: string) => {
    const client = openReadOnly(file)
    return rowsOfPostgres(pool, client).finally(() => client.close())
  }
  const countDistributed = async () =>
    (await read(pool, 'SELECT logicalrelid FROM pg_dist_partition')).length

  it('refuses SQLite, a database without Citus or workers, and a worker, in one line', async () => {
    const { MERIDIAN_DATABASE_URL: _, ...sqlite } = settingsOf('')
    const ended = await runScript(['scripts/migrate.ts', '--distribute'], sqlite)
    assert.deepEqual([ended.code, ended.stderr.trimEnd().split('\n').length], [1, 1])
    assert.match(ended.stderr, /set MERIDIAN_DATABASE_URL/)
    const alone = await createOnAll(cluster.urls)
    assert.match(await refusal(alone), /Citus is missing .*CREATE EXTENSION citus/)
    await query(alone, 'CREATE EXTENSION citus')
    assert.match(await refusal(alone), /no workers: .*citus_add_node/)
    assert.match(await refusal(within(cluster.urls[1] ?? '', url)), /name the coordinator/)
  })

  it('distributes an empty database once, and says what it did', async () => {
    const { stdout, stderr } = await distribute()
    const lines = DISTRIBUTED.map(({ name, column }) => `${name} by ${column}, 0 rows\n`)
    assert.equal(stdout, lines.join(''))
    assert.match(stderr, /Distributed 15 tables/)
    const again = await distribute()
    assert.deepEqual([again.stdout, await countDistributed()], ['', DISTRIBUTED.length])
    assert.match(again.stderr, /distributed before/)
    const kinds = `SELECT DISTINCT colocationid FROM pg_dist_partition`
    assert.equal((await read(pool, kinds)).length, 3)
  })

  it('keeps all rows, and frees the space of those that workers have', async () => {
    const file = makeFile()
    const original = inFile(file, rowsOfFile)
    await importFile(file)
    const { stdout } = await distribute()
    assert.match(stdout, new RegExp(`audit_log by actor_id, ${original['audit_log']?.length} rows`))
    assert.deepEqual(await inPostgres(file), original)
    for (const { name } of DISTRIBUTED) {
      const [[bytes] = []] = await read(pool, `SELECT pg_relation_size('${name}')`)
      assert.equal(bytes, 0, name)
    }
    assert.deepEqual(inFile(await exportFile(), rowsOfFile), original)
  })

  it('can be killed while it copies, and run again', async () => {
    const file = makeFile((client) => {
      const insert = client.prepare(
        `INSERT INTO usage_by_operation (day, user_id, key_id, operation, status, requests)
         VALUES (?, 'user-1', 'key', 'locateAddress', 200, 1)`,
      )
      client.transaction(() => {
        for (let day = 100; day < MANY_ROWS; day++) insert.run(day)
      })()
    })
    await importFile(file)
    const [program, ...options] = RUNTIME
    const args = [...options, 'scripts/migrate.ts', '--distribute']
    const child = spawn(program, args, { env: { ...inherited(), ...settingsOf(url) } })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'close')
    await distribute()
    assert.equal(await countDistributed(), DISTRIBUTED.length)
    assert.deepEqual(await inPostgres(file), inFile(file, rowsOfFile))
  })

  it('refuses while a server is running', async () => {
    await using _node = await makeApp({ env: settingsOf(url), now: Date.now })
    assert.match(await refusal(url), /in use by 1 server/)
    assert.equal(await countDistributed(), 0)
  })

  it('leaves a database that can be filled by an import', async () => {
    await distribute()
    const file = makeFile()
    await importFile(file)
    assert.deepEqual(await inPostgres(file), inFile(file, rowsOfFile))
    const [[id] = []] = await read(
      pool,
      `INSERT INTO audit_log (app, actor_id, action, created_at) VALUES ('api', 'a', 'b', 1) RETURNING id`,
    )
    const [[largest] = []] = await read(pool, `SELECT max(id) FROM audit_log WHERE action <> 'b'`)
    assert.equal(Number(id), Number(largest) + 1)
  })

  it('leaves a database that later migrations can change', async () => {
    await distribute()
    const later = `
        ALTER TABLE rum_hours ADD COLUMN more BIGINT NOT NULL DEFAULT 7;
        CREATE INDEX rum_hours_more ON rum_hours (more);
        CREATE TABLE later (id BIGINT PRIMARY KEY);
        DROP INDEX audit_log_by_time`
    await inTransaction(pool, async (connection) => {
      for (const statement of splitStatements(later)) await connection.runScript(statement)
    })
    await using node = await makeApp({ env: settingsOf(url), now: Date.now })
    const { writer } = node.services.storage.rum
    await send(writer, [makeDraft(1)])
    await writer.checkpointSite(makeDraft(1).siteId)
    assert.deepEqual(await read(pool, 'SELECT samples, more FROM rum_hours'), [[1, 7]])
  })

  it('leaves a database that commands can work on', async () => {
    await distribute()
    const commands = [
      ['user', '--email', 'ada@example.com', '--plan', 'pro'],
      ['key', '--email', 'ada@example.com', '--name', 'web'],
      ['user', '--list'],
      ['doctor'],
      ['backup', '--out', join(folder, `${randomUUID()}.tar.gz`)],
      ['migrate'],
      ['user', '--email', 'ada@example.com', '--delete', '--yes'],
    ]
    await using node = await makeApp({ env: settingsOf(url), now: Date.now })
    for (const [name = '', ...args] of commands) {
      const { code, stdout, stderr } = await runScript(
        [`scripts/${name}.ts`, ...args],
        settingsOf(url),
      )
      assert.equal(code, 0, `${name}: ${stdout}${stderr}`)
    }
    assert.equal((await node.send('GET', '/health')).status, 200)
  })

  it('makes exact backups while servers write', async () => {
    await distribute()
    await using node = await makeApp({ env: settingsOf(url), now: Date.now })
    const { writer } = node.services.storage.rum
    let sent = 0
    let isEnding = false
    const sending = (async () => {
      while (!isEnding) {
        await send(writer, [makeDraft(sent)])
        sent += 1
        if (sent % 5 === 0) await writer.checkpointSite('a')
      }
    })()
    for (let left = 5; left > 0; left--) {
      const before = sent
      const file = await exportFile('may run')
      const counts = inFile(file, (client) =>
        ['rum_hours', 'rum_sketches', 'rum_days'].map((table) =>
          client
            .prepare<[], number>(
              `SELECT (SELECT coalesce(sum(samples), 0) FROM ${table})
                 + (SELECT count(*) FROM rum_journal)`,
            )
            .pluck()
            .get(),
        ),
      )
      const [counted = 0] = counts
      assert.deepEqual(counts, Array(3).fill(counted))
      assert.ok(counted >= before && counted <= sent + 1, `${before} ${counted} ${sent}`)
    }
    isEnding = true
    await sending
  })
})
