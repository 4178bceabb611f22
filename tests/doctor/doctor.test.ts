import assert from 'node:assert/strict'
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readConfig } from '../../../lib/config.ts'
import { checkAuth } from '../../../lib/doctor/check-auth.ts'
import { checkBackups } from '../../../lib/doctor/check-backups.ts'
import { checkConfig } from '../../../lib/doctor/check-config.ts'
import { checkClock, checkDatabase } from '../../../lib/doctor/check-database.ts'
import { checkDisk, readDisk } from '../../../lib/doctor/check-disk.ts'
import { checkFolder } from '../../../lib/doctor/check-folder.ts'
import { checkDownloads, checkGeo } from '../../../lib/doctor/check-geo.ts'
import { checkMail } from '../../../lib/doctor/check-mail.ts'
import { type Finding, findAll } from '../../../lib/doctor/finding.ts'
import { makeDataFolder, withClient } from '../../data-folder.ts'
import { NOON } from '../../helpers.ts'
import { startMailServer } from '../../mail-server.ts'
import { tempFolder } from '../../temp-folder.ts'

const folder = tempFolder()
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MB = 1024 * 1024

/** Each finding as one line, with what to do about it. */
function lines(findings: readonly Finding[]): string[] {
  return findings.map((finding) =>
    finding.state === 'ok' ? 'ok' : `${finding.state}: ${finding.text} → ${finding.advice}`,
  )
}

function matches(findings: readonly Finding[], ...patterns: readonly RegExp[]): void {
  const found = lines(findings)
  assert.equal(found.length, patterns.length, found.join('\n'))
  for (const [at, pattern] of patterns.entries()) assert.match(found[at] ?? '', pattern)
}

describe('the check of the data folder', () => {
  it('finds nothing wrong with what a start makes', async () => {
    const { dataDir } = await makeDataFolder(folder)
    assert.deepEqual(lines(checkFolder(dataDir)), ['ok'])
  })

  it('knows that there is none before the first start', () => {
    matches(checkFolder(join(folder, 'none')), /^warning: There is no .* → start the server once$/)
  })

  it('finds a folder that others may look into', async () => {
    const { dataDir } = await makeDataFolder(folder)
    chmodSync(dataDir, 0o750)
    matches(checkFolder(dataDir), /^wrong: Others may look into .* → chmod 700 /)
  })

  it('finds secrets that others may read, or that are damaged', async () => {
    const { dataDir } = await makeDataFolder(folder)
    const path = join(dataDir, 'secrets.json')
    chmodSync(path, 0o640)
    matches(checkFolder(dataDir), /^wrong: .*others may read it; run chmod 600 on it/)
    chmodSync(path, 0o600)
    writeFileSync(path, '{')
    matches(checkFolder(dataDir), /^wrong: .*it is damaged; restore it from a backup or delete it/)
  })

  it('finds files of another user', async (t) => {
    if (process.getuid?.() !== 0) {
      t.skip('only root may give files away')
      return
    }
    const { dataDir, database } = await makeDataFolder(folder)
    chownSync(database, 65_534, 65_534)
    matches(checkFolder(dataDir), /^wrong: .*app\.db has another owner than .* → chown it/)
  })
})

describe('the check of the disk', () => {
  const wide = { free: 10_000 * MB, freeFiles: undefined, database: 100 * MB, log: 4 * MB }

  it('finds nothing wrong where there is room', async () => {
    assert.deepEqual(lines(checkDisk(wide)), ['ok'])
    const { dataDir } = await makeDataFolder(folder)
    const read = readDisk(dataDir)
    assert.ok(read.free > 0 && read.database > 0)
    assert.equal(checkDisk(read).length, 1)
  })

  it('warns where a backup may find no room', () => {
    matches(checkDisk({ ...wide, free: 900 * MB }), /^warning: 900 MB are free/)
    matches(checkDisk({ ...wide, database: 5_000 * MB }), /the database has 5000 MB → make room/)
  })

  it('finds a disk that is nearly full', () => {
    matches(checkDisk({ ...wide, free: 99 * MB }), /^wrong: 99 MB are free/)
    matches(checkDisk({ ...wide, freeFiles: 999 }), /^wrong: The disk takes only 999 more files/)
  })

  it('warns of a log that nobody shortens', () => {
    matches(checkDisk({ ...wide, log: 129 * MB }), /^warning: .*grown to 129 MB → see that Litestr/)
  })
})

describe('the check of the database', () => {
  it('finds nothing wrong with a whole one', async () => {
    const { database } = await makeDataFolder(folder)
    assert.deepEqual(lines(checkDatabase(database)), ['ok'])
  })

  it('knows that there is none before the first start', () => {
    matches(checkDatabase(join(folder, 'none.db')), /^warning: There is no .* → start the server/)
  })

  it('finds damage', async () => {
    const { database } = await makeDataFolder(folder)
    const bytes = readFileSync(database)
    writeFileSync(database, bytes.fill(0x5a, 4096, 40_960))
    const found = lines(checkDatabase(database))
    assert.match(found[0] ?? '', /^wrong: .*app\.db: .* → stop the server, .*npm run restore -- A/)
    writeFileSync(database, 'no database at all, but a text that is long enough\n'.repeat(100))
    matches(checkDatabase(database), /^wrong: .*file is not a database → stop the server/)
  })

  it('finds rows that belong to nothing', async () => {
    const { database } = await makeDataFolder(folder)
    withClient(database, (client) => {
      client.pragma('foreign_keys = OFF')
      client.exec("INSERT INTO sites (id, user_id, name, created_at) VALUES ('a', 'b', 'c', 1)")
    })
    matches(checkDatabase(database), /^wrong: .*a row of sites belongs to a row of users that is/)
  })

  it('tells of migrations to come, and of a newer version', async () => {
    const { database } = await makeDataFolder(folder)
    withClient(database, (client) => client.pragma('user_version = 3'))
    matches(checkDatabase(database), /^warning: .* lacks 0004-rum\.sql.* → make a backup; the next/)
    const newer = await makeDataFolder(folder)
    withClient(newer.database, (client) => client.pragma('user_version = 99'))
    matches(checkDatabase(newer.database), /^wrong: .*schema is number 99.* → run the version that/)
  })
})

describe('the check of the clock', () => {
  it('compares it with the latest time in the database', async () => {
    const { database } = await makeDataFolder(folder)
    withClient(database, (client) =>
      client.exec(`INSERT INTO health (id, checked_at) VALUES (1, ${NOON})`),
    )
    assert.deepEqual(lines(checkClock(database, NOON - 59_000)), ['ok'])
    matches(checkClock(database, NOON - DAY_MS), /^wrong: The clock says .*knows of .* → set the/)
  })

  it('leaves a database alone that is missing or damaged', () => {
    const path = join(folder, 'clock.db')
    assert.deepEqual(lines(checkClock(path, NOON)), ['ok'])
    writeFileSync(path, 'no database at all\n'.repeat(100))
    assert.deepEqual(lines(checkClock(path, NOON)), ['ok'])
  })
})

describe('the check of the geo files', () => {
  const builtAt = (days: number) => new Date(NOON - days * DAY_MS).toISOString()

  it('tells their age', () => {
    const files = [
      { name: 'a', builtAt: builtAt(45) },
      { name: 'b', builtAt: builtAt(46) },
    ]
    matches(checkGeo(files, NOON), /^ok$/, /^warning: b was built 46 days ago → fetch a newer one/)
  })

  it('tells which cannot be served', () => {
    const problem = 'Cannot use the database c: it is damaged'
    matches(checkGeo([{ name: 'c', problem }], NOON), /^wrong: Cannot use the database c: .* → npm/)
  })
})

describe('the check of downloads', () => {
  it('looks at when the providers were last asked', () => {
    assert.deepEqual(lines([checkDownloads(NOON - 3 * DAY_MS, NOON)]), ['ok'])
    matches([checkDownloads(NOON - 73 * HOUR_MS, NOON)], /^warning: .* 73 hours ago → npm run geo/)
    matches([checkDownloads(0, NOON)], /^warning: The providers were never asked .* → npm run geo/)
  })
})

describe('the check of the backups', () => {
  it('looks at the age of the latest', () => {
    assert.deepEqual(lines(checkBackups('x', NOON - 48 * HOUR_MS, NOON)), ['ok'])
    matches(checkBackups('x', NOON - 49 * HOUR_MS, NOON), /^warning: .* is 49 hours old → run npm/)
    matches(checkBackups('x', undefined, NOON), /^warning: There is no backup in x → run npm run b/)
  })
})

describe('the check of the settings', () => {
  const check = (env: Record<string, string>) => checkConfig(readConfig(env))
  const mail = { MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:25' }

  it('finds nothing wrong with those of a public server', () => {
    const env = { ...mail, HOST: '0.0.0.0', MERIDIAN_BASE_URL: 'https://geo.example' }
    assert.deepEqual(lines(check(env)), ['ok'])
    assert.deepEqual(lines(check({ MERIDIAN_SIGN_UP: 'closed' })), ['ok'])
  })

  it('warns of an address that nobody can use, or that everybody can read', () => {
    matches(check({ ...mail, HOST: '0.0.0.0' }), /^warning: HOST is 0\.0\.0\.0, but .* → set it to/)
    const plain = { ...mail, MERIDIAN_BASE_URL: 'http://geo.example' }
    matches(check(plain), /^warning: http:\/\/geo\.example is not encrypted → put a proxy/)
  })

  it('warns of sign-up without mail', () => {
    matches(check({}), /^warning: MERIDIAN_SMTP_URL is not set: .* → set it, or MERIDIAN_SIGN_UP/)
  })

  it('finds plans that cannot be read', () => {
    const path = join(folder, 'plans.json')
    writeFileSync(path, '[]')
    matches(check({ ...mail, MERIDIAN_PLANS: path }), /^wrong: .*plans\.json.* → repair the file/)
  })
})

describe('the check of the mail server', () => {
  it('is content with one that lets us in, and sends nothing', async () => {
    await using server = await startMailServer()
    assert.deepEqual(lines(await checkMail(server.url)), ['ok'])
    assert.equal(server.received(), 0)
  })

  it('finds one that does not answer, and shows no password', async () => {
    const password = crypto.randomUUID()
    const [found, ...more] = lines(await checkMail(`smtp://ada:${password}@127.0.0.1:1`))
    assert.match(
      found ?? '',
      /^wrong: 127\.0\.0\.1:1 takes no mail: .* → see to MERIDIAN_SMTP_URL$/,
    )
    assert.equal(found?.includes(password), false)
    assert.deepEqual(more, [])
  })
})

describe('the check of the auth service', () => {
  const now = () => Date.now()

  async function checkAt(answer: RequestListener): Promise<string[]> {
    const server = createServer(answer).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    // safe: it listens on a port
    const { port } = server.address() as AddressInfo
    const found = lines(await checkAuth(`http://127.0.0.1:${port}`, now))
    server.close()
    return found
  }

  it('is content with one that knows nobody', async () => {
    let path: string | undefined
    const found = await checkAt((request, response) => {
      path = request.url
      response.end('null')
    })
    assert.deepEqual([found, path], [['ok'], '/api/auth/get-session'])
  })

  it('finds one that answers something else', async () => {
    const found = await checkAt((_, response) => response.writeHead(502).end())
    assert.match(found.join(), /^wrong: .* answers 502 instead of 200 → see to MERIDIAN_AUTH_URL/)
  })

  it('finds one that does not answer', async () => {
    const found = lines(await checkAuth('http://127.0.0.1:1', now))
    assert.match(found.join(), /^wrong: http:\/\/127\.0\.0\.1:1 does not answer: .* → see to/)
  })

  it('compares the clocks by the date of the answer', async () => {
    const found = await checkAt((_, response) => {
      response.setHeader('date', new Date(Date.now() - HOUR_MS).toUTCString())
      response.end('null')
    })
    assert.equal(found.length, 2)
    assert.match(found[1] ?? '', /^wrong: The clock differs by 3[56]\d\d s from .* → set the clock/)
  })
})

describe('a check that fails', () => {
  it('has found that', async () => {
    const check = { name: 'x', find: () => Promise.reject(new Error('no such thing')) }
    matches(await findAll(check), /^wrong: no such thing → see to what the message says$/)
  })
})
