import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { basename, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import Sqlite from 'better-sqlite3'
import { mmdbBytes } from '../support/geo-files.ts'
import { plansFileOf } from '../support/plans-file.ts'
import { newDataFolder, type Running, runScript, startServer } from '../support/process.ts'
import { RUNTIME } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { CONNECTIONS, close, lookUpOnAll, openMany } from './many-connections.ts'

const IS_NODE = basename(RUNTIME[0]) === 'node'
const wide = { monthlyCap: 100_000, requestsPerMinute: 600_000, maxKeys: 10, maxSites: 10 }
/** As many as a user may make in an hour. With so many connections, other threads than the first have some. */
const EXPORTS = 10
/** A megabyte for each archive, which compresses badly. */
const ENTRIES = 2_000
const ENTRY_BYTES = 512

const { dataDir, settings: folder, remove } = newDataFolder()
const city = join(dataDir, 'City.mmdb')
const settings = {
  ...folder,
  MERIDIAN_GEO: city,
  MERIDIAN_NODES: '3',
  // One address may hold a tenth of them.
  MERIDIAN_MAX_CONNECTIONS: String(10 * 4 * CONNECTIONS),
  MERIDIAN_PLANS: plansFileOf([{ id: 'wide', name: 'Wide', price: 1, ...wide }]),
}

/** Puts a database in place that has the address in this city. */
function replaceCity(name: string, builtAt: number): void {
  const record = { country: { iso_code: 'GB' }, city: { names: { en: name } } }
  writeFileSync(`${city}.new`, mmdbBytes({ '81.2.69.0/24': record }, { builtAt }))
  renameSync(`${city}.new`, city)
}

async function makeKey(email: string): Promise<string> {
  const args = ['scripts/key.ts', '--email', email, '--name', 'all']
  const { stdout } = await runScript(args, settings)
  const changed = await runScript(['scripts/user.ts', '--email', email, '--plan', 'wide'], settings)
  assert.equal(changed.code, 0, changed.stderr)
  return stdout.trim()
}

/** Makes the export of every user long. */
function writeAudit(): void {
  const db = new Sqlite(join(dataDir, 'app.db'))
  const insert = db.prepare(
    `INSERT INTO audit_log (app, actor_id, action, detail, created_at)
     SELECT 'api', id, 'test', ?, 1 FROM users`,
  )
  db.transaction(() => {
    for (let entry = 0; entry < ENTRIES; entry++)
      insert.run(randomBytes(ENTRY_BYTES).toString('hex'))
  })()
  db.close()
}

/** Begins an export on a connection of its own. */
async function beginExport({ url }: Running, key: string): Promise<IncomingMessage> {
  const options = { headers: { 'x-api-key': key }, agent: false }
  const [answer] = await once(get(`${url}/v1/account/me/export`, options), 'response')
  assert.equal(answer.statusCode, 200)
  return answer
}

describe('network threads', { skip: !IS_NODE, timeout: 120_000 }, () => {
  let server: Running
  let ada: string
  let ben: string
  before(async () => {
    replaceCity('Old', Date.UTC(2026, 0, 1))
    ada = await makeKey('ada@example.com')
    ben = await makeKey('ben@example.com')
    writeAudit()
    server = await startServer(settings)
  })
  after(async () => {
    const { code, stderr } = await server.stop('SIGTERM')
    remove()
    assert.deepEqual([code, stderr], [0, ''])
  })

  it('all change to a new database', async () => {
    const connections = await openMany(server.url)
    /** How many connections got this city last. */
    const answered = (name: string) =>
      connections.filter(({ received }) => /.*"city":"([^"]+)"/s.exec(received())?.[1] === name)
        .length
    await lookUpOnAll(connections, ada, 10)
    assert.equal(answered('Old'), CONNECTIONS)
    replaceCity('New', Date.UTC(2026, 0, 2))
    while (answered('New') < CONNECTIONS) {
      await lookUpOnAll(connections, ada, 1)
      await sleep(50)
    }
    close(connections)
  })

  it('pass on whole files that the first thread makes in pieces', async () => {
    const exports = await Promise.all(
      Array.from({ length: EXPORTS }, () => beginExport(server, ada)),
    )
    for (const answer of exports) {
      const archive = gunzipSync(await buffer(answer)).toString('latin1')
      assert.equal(archive.split('"test"').length - 1, ENTRIES)
    }
  })

  it('let go of connections whose clients leave in the middle of an answer', async () => {
    const exports = await Promise.all(
      Array.from({ length: EXPORTS }, () => beginExport(server, ben)),
    )
    for (const answer of exports) answer.destroy()
    // Several times as many as one address may hold at once.
    for (let attempt = 0; attempt < 10; attempt++) {
      const leaving = await openMany(server.url)
      for (const { socket } of leaving) {
        socket.write(
          `GET /v1/ip/81.2.69.160 HTTP/1.1\r\nHost: a.example\r\nX-API-Key: ${ben}\r\n\r\n`,
        )
        socket.resetAndDestroy()
      }
      const connections = await openMany(server.url)
      const left = connections.map(({ ended }) => ended)
      const counts = lookUpOnAll(connections, ben, 2)
      assert.deepEqual(await Promise.race([counts, ...left]), { 200: 2 * CONNECTIONS })
      close(connections)
      await Promise.all(left)
    }
  })
})

describe('a network thread that fails', { skip: !IS_NODE, timeout: 60_000 }, () => {
  it('ends the process, which says why', async () => {
    const own = newDataFolder()
    const trigger = join(own.dataDir, 'now')
    const file = join(tempFolder(), 'fail.mjs')
    writeFileSync(
      file,
      `import { existsSync } from 'node:fs'
       import { threadName } from 'node:worker_threads'
       const fail = () => { if (existsSync(${JSON.stringify(trigger)})) throw new Error('a bug') }
       if (threadName === 'network 2') setInterval(fail, 10).unref()`,
    )
    const env = { ...settings, ...own.settings, NODE_OPTIONS: `--import=${file}` }
    const server = await startServer(env)
    const connections = await openMany(server.url)
    assert.equal(existsSync(trigger), false)
    writeFileSync(trigger, '')
    const { code, stderr } = await server.ended
    assert.equal(code, 1)
    assert.match(stderr, /A thread has ended: a bug/)
    await Promise.all(connections.map(({ ended }) => ended))
    own.remove()
  })
})
