import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { unpackBackup } from '../../lib/backup/archive.ts'
import { openSecrets } from '../../lib/config/secrets.ts'
import { addUsers, writeWidePlan } from '../accounts/many-users.ts'
import { emailsIn, makeDataFolder, withClient } from '../support/data-folder.ts'
import { newDataFolder, runScript, startServer } from '../support/process.ts'
import { inherited, LOADER } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { checkedTimeOf, readHoldings } from './drill/ledger.ts'
import { startWriters } from './drill/writers.ts'

// run: only on Node.js

const ROUNDS = 8
const ROWS = 20_000
const folder = tempFolder()

describe('a backup that is killed', () => {
  let settings: Record<string, string>
  let wholeMs: number
  before(async () => {
    const { dataDir, database } = await makeDataFolder(folder)
    withClient(database, (client) => {
      const insert = client.prepare(
        "INSERT INTO audit_log (app, actor_id, action, detail, created_at) VALUES ('cli', 'a', 'b', hex(randomblob(200)), 1)",
      )
      client.transaction(() => {
        for (let n = 0; n < ROWS; n++) insert.run()
      })()
    })
    settings = { MERIDIAN_DATA_DIR: dataDir }
    const began = performance.now()
    const { code, stderr } = await runScript(['scripts/backup.ts'], settings)
    assert.equal(code, 0, stderr)
    wholeMs = performance.now() - began
  })

  it(`never leaves a partial file under its name: ${ROUNDS} times`, async (t) => {
    const backups = mkdtempSync(join(folder, 'backups-'))
    const path = join(backups, 'killed.tar.gz')
    const seen = { whole: 0, none: 0, left: 0 }
    for (let round = 0; round < ROUNDS; round++) {
      await backUpAndKill(path, wholeMs * ((1.3 * (round + Math.random())) / ROUNDS))
      seen.left += readdirSync(backups).filter((name) => name.startsWith('.partial')).length
      if (!existsSync(path)) seen.none += 1
      else {
        await unpackBackup(path, mkdtempSync(join(folder, 'whole-')))
        seen.whole += 1
        rmSync(path)
      }
    }
    t.diagnostic(JSON.stringify(seen))
    assert.ok(seen.none > 0)
    assert.equal((await runScript(['scripts/backup.ts', '--out', path], settings)).code, 0)
    const left = readdirSync(backups).filter((name) => name.endsWith('-locked'))
    assert.deepEqual(left, [], 'the partial files are removed')
  })

  async function backUpAndKill(path: string, afterMs: number): Promise<void> {
    const args = [...LOADER, 'scripts/backup.ts', '--out', path]
    const child = spawn(process.execPath, args, { env: { ...inherited(), ...settings } })
    const closed = once(child, 'close')
    await sleep(afterMs)
    child.kill('SIGKILL')
    await closed
  }
})

describe('a restore that is killed', () => {
  it('leaves either the old data or the restored data', async (t) => {
    const ada = await makeDataFolder(folder, 'ada@example.com')
    const path = join(folder, 'ada.tar.gz')
    const backup = ['scripts/backup.ts', '--out', path]
    assert.equal((await runScript(backup, { MERIDIAN_DATA_DIR: ada.dataDir })).code, 0)
    const found: unknown[] = []
    const began = performance.now()
    await restoreAndKill(path, ada.dataDir, Number.POSITIVE_INFINITY)
    const wholeMs = performance.now() - began
    for (let round = 0; round < ROUNDS; round++) {
      const bob = await makeDataFolder(folder, 'bob@example.com')
      await restoreAndKill(path, bob.dataDir, wholeMs * (0.6 + (0.6 * round) / ROUNDS))
      const [email] = emailsIn(bob.database)
      assert.ok(email === 'bob@example.com' || email === 'ada@example.com', `found ${email}`)
      if (email === 'bob@example.com') assert.deepEqual(openSecrets(bob.dataDir), bob.secrets)
      found.push(email)
    }
    t.diagnostic(found.join(' '))
  })

  async function restoreAndKill(path: string, dataDir: string, afterMs: number): Promise<void> {
    const args = [...LOADER, 'scripts/restore.ts', path, '--overwrite']
    const env = { ...process.env, MERIDIAN_DATA_DIR: dataDir }
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' })
    const closed = once(child, 'close')
    const timer = Number.isFinite(afterMs) ? setTimeout(() => child.kill('SIGKILL'), afterMs) : null
    await closed
    if (timer !== null) clearTimeout(timer)
  }
})

describe('a backup under a load of writes', () => {
  const service = newDataFolder()
  after(service.remove)
  const plans = join(service.dataDir, 'plans.json')
  const settings = {
    ...service.settings,
    MERIDIAN_PLANS: plans,
    MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
  }

  const readLookUps = (database: string) => {
    const db = new Sqlite(database, { readonly: true })
    const lookUps = db.prepare('SELECT sum(requests) FROM usage_by_period').pluck().get()
    db.close()
    return Number(lookUps)
  }

  it('includes everything acknowledged before, and is consistent', async () => {
    writeWidePlan(plans)
    const database = join(service.dataDir, 'app.db')
    const keys = await addUsers(database, plans, 60)
    const server = await startServer(settings)
    const origin = 'https://shop.example'
    const headers = { 'x-api-key': keys[0] ?? '' }
    const body = JSON.stringify({ name: origin })
    await fetch(`${server.url}/v1/account/me/sites`, { method: 'POST', headers, body })
    const earlier = readHoldings(database)
    const { acknowledged, ended } = startWriters({ url: server.url, keys, origin })
    for (let round = 0; round < 3; round++) {
      await sleep(1_500)
      const began = performance.now()
      const counted = earlier.lookups + acknowledged.lookups.length
      // Counts are written once a second, on a busy disk more slowly.
      while (readLookUps(database) < counted) await sleep(20)
      const path = join(folder, `load-${round}.tar.gz`)
      const { code, stderr } = await runScript(['scripts/backup.ts', '--out', path], settings)
      assert.equal(code, 0, stderr)
      const unpacked = join(folder, `load-${round}`)
      mkdirSync(unpacked)
      await unpackBackup(path, unpacked)
      const holdings = readHoldings(join(unpacked, 'app.db'))
      const moment = checkedTimeOf(holdings, earlier, acknowledged, performance.now())
      assert.ok(
        moment >= began,
        `a write acknowledged ${began - moment} ms before the backup is missing`,
      )
    }
    await server.stop('SIGTERM')
    await ended
    assert.deepEqual([...acknowledged.others], [])
    assert.ok(acknowledged.beacons.length > 0)
  })
})
