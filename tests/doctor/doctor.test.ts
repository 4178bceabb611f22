import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { readConfig } from '../../lib/config/config.ts'
import { checkConfig } from '../../lib/doctor/check-config.ts'
import { checkClock, checkDatabase } from '../../lib/doctor/check-database.ts'
import { checkFolder } from '../../lib/doctor/check-folder.ts'
import { checkAuth, checkMail } from '../../lib/doctor/check-services.ts'
import { runCheck } from '../../lib/doctor/finding.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import { makeDataFolder, withClient } from '../support/data-folder.ts'
import { NOON } from '../support/helpers.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { startMailServer } from '../support/mail-server.ts'
import { LOADER, mayBecomeNobody, ON_POSIX } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { lines, matches } from './findings.ts'

const folder = tempFolder()

describe('checkFolder', () => {
  it('finds no problem after a first start', async () => {
    const { dataDir } = await makeDataFolder(folder)
    assert.deepEqual(lines(checkFolder(dataDir)), ['ok'])
  })

  it('reports what is missing before the first start', () => {
    const clone = tempFolder()
    writeFileSync(join(clone, 'plans.json'), '[]')
    chmodSync(clone, 0o755)
    for (const unused of [join(folder, 'none'), clone]) {
      matches(checkFolder(unused), /^warning: There is no data in .* → start the server once$/)
    }
  })

  it('finds a folder that others may read', ON_POSIX, async () => {
    const { dataDir } = await makeDataFolder(folder)
    chmodSync(dataDir, 0o750)
    matches(checkFolder(dataDir), /^wrong: Other users can read .* → chmod 700 /)
    chmodSync(dataDir, 0o1777)
    const found = checkFolder(dataDir)
    matches(found, /^wrong: Cannot use the data folder .*: every user may write into /)
  })

  it('finds secrets that others may read, or that are damaged', ON_POSIX, async () => {
    const { dataDir } = await makeDataFolder(folder)
    const path = join(dataDir, 'secrets.json')
    chmodSync(path, 0o640)
    matches(checkFolder(dataDir), /^wrong: .*other users can read it; run chmod 600 on it/)
    chmodSync(path, 0o600)
    writeFileSync(path, '{')
    matches(checkFolder(dataDir), /^wrong: .*it is damaged; restore it from a backup or delete it/)
  })

  it('finds files of another user', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('only root may give files away')
    const { dataDir, database } = await makeDataFolder(folder)
    chownSync(database, 65_534, 65_534)
    matches(checkFolder(dataDir), /^wrong: .*app\.db belongs to another user → chown it/)
  })

  it('accepts a folder of another owner if this user may write', async (t) => {
    if (!mayBecomeNobody()) return t.skip('needs root, and a runtime that every user may run')
    const { dataDir } = await makeDataFolder(folder)
    chmodSync(dataDir, 0o2770)
    chownSync(dataDir, 0, 7)
    for (const name of readdirSync(dataDir)) chownSync(join(dataDir, name), 65_534, 7)
    const findAs = (gid: number) => {
      const check = `import { checkFolder } from './lib/doctor/check-folder.ts'
        process.setgid(${gid}), process.setgroups([${gid}]), process.setuid(65_534)
        console.log(checkFolder(${JSON.stringify(dataDir)}).map(({ text }) => text).join())`
      const args = [...LOADER, '--input-type=module', '--eval', check]
      return execFileSync(process.execPath, args, { encoding: 'utf8' })
    }
    for (const parent of [folder, dirname(dataDir)]) chmodSync(parent, 0o711)
    assert.match(findAs(7), /^Other users cannot read/)
    chmodSync(dataDir, 0o755)
    assert.match(findAs(7), /^This user cannot write into .* \(EACCES\)/)
  })
})

describe('checkDatabase', () => {
  it('finds no problem in an undamaged database', async () => {
    const { database } = await makeDataFolder(folder)
    assert.deepEqual(lines(checkDatabase(database)), ['ok'])
  })

  it('reports what is missing before the first start', () => {
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

  it('finds rows without their parent row', async () => {
    const { database } = await makeDataFolder(folder)
    withClient(database, (client) => {
      client.pragma('foreign_keys = OFF')
      client.exec("INSERT INTO sites (id, user_id, name, created_at) VALUES ('a', 'b', 'c', 1)")
    })
    matches(checkDatabase(database), /^wrong: .*a row of sites refers to a missing row of users/)
  })

  it('reports pending migrations and a newer version', async () => {
    const { database } = await makeDataFolder(folder)
    withClient(database, (client) => client.pragma('user_version = 3'))
    const pending = checkDatabase(database)
    matches(pending, /^warning: .* lacks 0004-rum\.sql.* → make a backup; npm run migrate /)
    const newer = await makeDataFolder(folder)
    withClient(newer.database, (client) => client.pragma('user_version = 99'))
    const found = checkDatabase(newer.database)
    matches(found, /^wrong: .*schema version is 99.* → run the version that/)
  })
})

describe('checkClock', () => {
  it('compares the clock with the latest time in the database', async () => {
    const { database } = await makeDataFolder(folder)
    const checked = `INSERT INTO health (id, checked_at) VALUES (1, ${NOON})`
    withClient(database, (client) => client.exec(checked))
    assert.deepEqual(lines(checkClock(database, NOON - 59_000)), ['ok'])
    const found = checkClock(database, NOON - DAY_MS)
    matches(found, /^wrong: The clock says .*database was written at .* → set the/)
  })

  it('ignores a missing or damaged database', () => {
    const path = join(folder, 'clock.db')
    assert.deepEqual(lines(checkClock(path, NOON)), ['ok'])
    writeFileSync(path, 'no database at all\n'.repeat(100))
    assert.deepEqual(lines(checkClock(path, NOON)), ['ok'])
  })
})

describe('checkConfig', () => {
  const check = (env: Record<string, string>) => checkConfig(readConfig(env))
  const mail = { MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:25' }

  it('finds no problem in the settings of a public server', () => {
    const env = { ...mail, HOST: '0.0.0.0', MERIDIAN_BASE_URL: 'https://geo.example' }
    assert.deepEqual(lines(check(env)), ['ok'])
    assert.deepEqual(lines(check({ MERIDIAN_SIGN_UP: 'closed' })), ['ok'])
  })

  it('warns of an address that is unreachable or not encrypted', () => {
    matches(check({ ...mail, HOST: '0.0.0.0' }), /^warning: HOST is 0\.0\.0\.0, but .* → set it to/)
    const proxied = { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' }
    const unset =
      /^warning: MERIDIAN_TRUSTED_PROXIES is set, but MERIDIAN_BASE_URL is not → set it to/
    matches(check({ ...mail, ...proxied }), unset)
    assert.deepEqual(lines(check({ ...proxied, MERIDIAN_SIGN_UP: 'closed' })), ['ok'])
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

describe('checkMail', () => {
  it('accepts a mail server that lets us sign in, and sends nothing', async () => {
    await using server = await startMailServer()
    assert.deepEqual(lines(await checkMail(server.url)), ['ok'])
    assert.equal(server.received(), 0)
  })

  it('finds a mail server that does not answer, and shows no password', async () => {
    const password = crypto.randomUUID()
    const [found, ...more] = lines(await checkMail(`smtp://ada:${password}@127.0.0.1:1`))
    const refusal = /^wrong: 127\.0\.0\.1:1 accepts no mail: .* → check MERIDIAN_SMTP_URL$/
    assert.match(found ?? '', refusal)
    assert.equal(found?.includes(password), false)
    assert.deepEqual(more, [])
  })
})

describe('checkAuth', () => {
  const now = () => Date.now()

  async function checkAt(answer: RequestListener): Promise<string[]> {
    await using service = await startLoopbackServer(answer)
    return lines(await checkAuth(service.origin, now))
  }

  it('accepts a service that answers without a session', async () => {
    let path: string | undefined
    const found = await checkAt((request, response) => {
      path = request.url
      response.end('null')
    })
    assert.deepEqual([found, path], [['ok'], '/api/auth/get-session'])
  })

  it('finds a service that does not answer 200', async () => {
    const found = await checkAt((_, response) => response.writeHead(502).end())
    assert.match(found.join(), /^wrong: .* answers 502 instead of 200 → check MERIDIAN_AUTH_URL/)
  })

  it('finds a service that does not answer', async () => {
    const found = lines(await checkAuth('http://127.0.0.1:1', now))
    assert.match(found.join(), /^wrong: http:\/\/127\.0\.0\.1:1 does not answer: .* → check/)
  })

  it('compares the clocks by the Date header of the answer', async () => {
    const found = await checkAt((_, response) => {
      response.setHeader('date', new Date(Date.now() - HOUR_MS).toUTCString())
      response.end('null')
    })
    assert.equal(found.length, 2)
    assert.match(found[1] ?? '', /^wrong: The clock differs by 3[56]\d\d s from .* → set the clock/)
  })
})

describe('runCheck', () => {
  it('turns the error of a check into its finding', async () => {
    const check = { name: 'x', find: () => Promise.reject(new Error('no such thing')) }
    const found = await runCheck(check)
    matches(found, /^wrong: no such thing → the message says why this check failed$/)
  })
})
