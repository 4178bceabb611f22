import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { callerEvent } from '../../lib/accounts/audit.ts'
import {
  addSite,
  findSite,
  listSites,
  newSite,
  parseSiteName,
  removeSite,
  type SiteRow,
} from '../../lib/accounts/sites.ts'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import { openPlain } from '../../lib/db/connection.ts'
import { type Db, openDb } from '../../lib/db/open.ts'
import { auditLog, sites } from '../../lib/db/tables.ts'
import { makeOldDatabase } from '../support/data-folder.ts'
import { makeFail } from '../support/database/sql.ts'
import { storeOfTest } from '../support/database/store.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { words } from '../support/words.ts'

const openStore = storeOfTest()

const BASE_URL = 'https://meridian.example'

async function addUser(db: Db, email: string): Promise<string> {
  const user = newUser({ email, plan: 'free', now: NOON })
  await insertUser(db, user).run()
  return user.id
}

/** A site whose origin no other user has. */
function siteOf(userId: string, host: string, now = NOON): SiteRow {
  return { ...newSite({ userId, name: `https://${host}.example`, now }), isFirst: true }
}

function eventOf({ userId, id, name }: SiteRow, action: 'create_site' | 'delete_site') {
  const change = { action, targetType: 'site', targetId: id, detail: name }
  return callerEvent({ app: 'api', userId, label: 'test' }, change, NOON)
}

const add = (db: Db, site: SiteRow, maxSites: number) =>
  addSite(db, site, maxSites, { event: eventOf(site, 'create_site'), baseUrl: BASE_URL })
const remove = (db: Db, site: SiteRow) =>
  removeSite(db, site, { event: eventOf(site, 'delete_site'), baseUrl: BASE_URL })

async function logged(db: Db): Promise<string[]> {
  return (await db.select().from(auditLog).orderBy(auditLog.id).all()).map(
    ({ action, detail }) => `${action} ${detail}`,
  )
}

/** A database with one user. */
async function openWithUser() {
  const { db, other } = await openStore()
  return { db, other, userId: await addUser(db, 'a@example.com') }
}

/** Adds 50 sites at once over two connections. Returns the outcomes, sorted. */
async function addMany(siteAt: (userId: string, n: number) => SiteRow, maxSites: number) {
  const { db, other, userId } = await openWithUser()
  const adding = Array.from({ length: 50 }, (_, n) =>
    add(n % 2 === 0 ? db : other, siteAt(userId, n), maxSites),
  )
  const outcomes = (await Promise.all(adding)).toSorted()
  return { db, other, userId, outcomes }
}

describe('parseSiteName', () => {
  const good = [
    ['https://shop.example', 'https://shop.example'],
    ['https://shop.example/', 'https://shop.example'],
    ['HTTPS://Shop.EXAMPLE:443', 'https://shop.example'],
    ['http://shop.example:80/', 'http://shop.example'],
    ['http://shop.example:8080', 'http://shop.example:8080'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://intranet', 'http://intranet'],
    ['http://192.0.2.1', 'http://192.0.2.1'],
    ['https://[2001:DB8:0::1]/', 'https://[2001:db8::1]'],
  ] as const
  for (const [text, name] of good) {
    it(`parses ${text} as ${name}`, () => assert.equal(parseSiteName(text), name))
  }

  const bad = {
    'text that is not an origin': [
      '',
      ...words('/ null shop.example //shop.example https:// https:///'),
    ],
    'a path': ['https://a.example//', 'https://a.example/b', 'https://a.example/b/'],
    'a path that is resolved away': ['https://a.example/.', 'https://a.example/b/..'],
    'a query or a fragment': ['https://a.example?', 'https://a.example/?b', 'https://a.example#'],
    'a user': ['https://u@a.example', 'https://u:p@a.example', 'https://@a.example'],
    'a wildcard': ['https://*.a.example', 'https://*', 'https://＊.a.example', '*'],
    'another scheme': ['ftp://a.example', 'ws://a.example', 'javascript://a', 'file:///a'],
    'the origin of an app': words(
      'capacitor://localhost ionic://localhost/ tauri://localhost TAURI://LOCALHOST',
    ),
    'errors that the URL parser corrects': [
      ...[' https://a.example', 'https://a.example ', 'https:\\\\a.example', 'https:/a.example'],
      ...['https:a.example', 'https://a.example\\', 'https://a\n.example'],
    ],
  }
  for (const [why, texts] of Object.entries(bad)) {
    it(`refuses ${why}`, () => {
      for (const text of texts) assert.equal(parseSiteName(text), null, text)
    })
  }

  it('returns the origin that a browser sends, and accepts it unchanged', () => {
    const text = fc
      .tuple(fc.webUrl({ withFragments: true, withQueryParameters: true }), fc.string())
      .chain(([url, any]) =>
        fc.constantFrom(url, new URL(url).origin, `${new URL(url).origin}/`, `https://${any}`),
      )
    fc.assert(
      fc.property(text, (given) => {
        const name = parseSiteName(given)
        if (name === null) return
        assert.equal(name, new URL(given).origin)
        assert.equal(parseSiteName(name), name)
        assert.equal(parseSiteName(`${name}/`), name)
        assert.ok(name.length <= 300, 'the name is short enough to be sent again')
      }),
      { numRuns: 3_000 },
    )
  })

  it('accepts the origin of every page', () => {
    fc.assert(
      fc.property(fc.webUrl(), (url) => {
        const { origin, hostname } = new URL(url)
        fc.pre(hostname.length <= 253)
        assert.equal(parseSiteName(origin), origin)
      }),
    )
  })
})

describe('addSite', () => {
  it('adds exactly the allowed number when 50 run at once over two connections', async () => {
    const siteAt = (userId: string, n: number) => siteOf(userId, `n${n}`)
    const { db, other, userId, outcomes } = await addMany(siteAt, 3)
    assert.deepEqual(outcomes, [...Array(3).fill('added'), ...Array(47).fill('limit-reached')])
    assert.equal((await listSites(db, userId)).length, 3)
    assert.equal((await logged(other)).length, 3)
  })

  it('adds one name once when 50 run at once over two connections', async () => {
    const { other, outcomes } = await addMany((userId) => siteOf(userId, 'same'), 1_000)
    assert.deepEqual(outcomes, ['added', ...Array(49).fill('exists')])
    assert.deepEqual(await logged(other), ['create_site https://same.example'])
  })

  it('reports that the name exists even if the limit is reached', async () => {
    const { db, userId } = await openWithUser()
    assert.equal(await add(db, siteOf(userId, 'one'), 1), 'added')
    assert.equal(await add(db, siteOf(userId, 'one'), 1), 'exists')
    assert.equal(await add(db, siteOf(userId, 'two'), 1), 'limit-reached')
    assert.equal(await add(db, siteOf(userId, 'two'), 0), 'limit-reached')
  })

  it('counts and compares only the sites of the user', async () => {
    const { db } = await openStore()
    const [a, b] = [await addUser(db, 'a@example.com'), await addUser(db, 'b@example.com')]
    assert.equal(await add(db, siteOf(a, 'one'), 1), 'added')
    assert.equal(await add(db, siteOf(b, 'one'), 1), 'added')
    assert.equal(await add(db, siteOf('nobody', 'one'), 1), 'limit-reached')
  })

  it('adds nothing if the event cannot be written', async () => {
    const { db, userId } = await openWithUser()
    await makeFail({ db }, 'INSERT ON audit_log')
    await assert.rejects(add(db, siteOf(userId, 'one'), 1), /full/)
    assert.deepEqual(await db.select().from(sites).all(), [])
  })

  it('throws if the id is taken, rather than report that the name is taken', async () => {
    const { db, userId } = await openWithUser()
    const site = siteOf(userId, 'one')
    await add(db, site, 5)
    await assert.rejects(add(db, { ...site, name: 'https://two.example' }, 5), /unique/i)
    assert.equal((await logged(db)).length, 1)
  })
})

describe('listSites', () => {
  it('returns the oldest first, and sites of one millisecond in the order added', async () => {
    const { db, userId } = await openWithUser()
    const names = Array.from({ length: 30 }, (_, n) => `s${(n * 7) % 30}`)
    for (const name of names) await add(db, siteOf(userId, name), 100)
    await add(db, siteOf(userId, 'younger', NOON + 1), 100)
    await add(db, siteOf(userId, 'older', NOON - 1), 100)
    const listed = (await listSites(db, userId)).map(({ name }) => name)
    const expected = ['older', ...names, 'younger'].map((name) => `https://${name}.example`)
    assert.deepEqual(listed, expected)
  })
})

describe('removeSite', () => {
  it('removes one site once, and writes one audit event', async () => {
    const { db, userId } = await openWithUser()
    const [one, two] = [siteOf(userId, 'one'), siteOf(userId, 'two')]
    await add(db, one, 2)
    await add(db, two, 2)
    const removed = await Promise.all([remove(db, one), remove(db, one)])
    assert.deepEqual(removed.toSorted(), [false, true])
    assert.deepEqual(await listSites(db, userId), [two])
    assert.deepEqual((await logged(db)).slice(2), ['delete_site https://one.example'])
  })

  it('makes room for another site, even with the same name', async () => {
    const { db, userId } = await openWithUser()
    const site = siteOf(userId, 'one')
    await add(db, site, 1)
    await remove(db, site)
    assert.equal(await add(db, siteOf(userId, 'one'), 1), 'added')
  })

  it('does not remove a site of another user', async () => {
    const { db } = await openStore()
    const [a, b] = [await addUser(db, 'a@example.com'), await addUser(db, 'b@example.com')]
    const site = siteOf(a, 'one')
    await add(db, site, 1)
    assert.equal(await findSite(db, b, site.id), null)
    assert.equal(await remove(db, { ...site, userId: b }), false)
    assert.deepEqual(await findSite(db, a, site.id), site)
    assert.equal((await logged(db)).length, 1)
  })

  it('removes nothing if the event cannot be written', async () => {
    const { db, userId } = await openWithUser()
    const site = siteOf(userId, 'one')
    await add(db, site, 1)
    await makeFail({ db }, 'INSERT ON audit_log')
    await assert.rejects(remove(db, site), /full/)
    assert.deepEqual(await db.select().from(sites).all(), [site])
  })
})

/** The last version whose proofs were of an origin, not of a host. */
const BEFORE_HOSTS = 14

const ORIGINS = words(`
  https://shop.example http://shop.example:8080 http://shop2:3000 http://shop2 http://192.0.2.1
  http://192.0.2.1:80 https://[2001:db8::1] https://[2001:db8::1]:8443`)

describe('the migration to proofs of hosts', () => {
  it('finds the host of every origin, and ends first registrations on hosts that another user has proved', () => {
    const file = join(tempFolder(), 'app.db')
    makeOldDatabase(file, BEFORE_HOSTS)
    const old = openPlain(file)
    const user = old.prepare('INSERT INTO users (id, email, plan, created_at) VALUES (?, ?, ?, 1)')
    for (const id of ['mallory', 'alice']) user.run(id, `${id}@example.com`, 'free')
    const site = old.prepare(
      'INSERT INTO sites (id, user_id, name, created_at, proven_at, is_first) VALUES (?, ?, ?, 1, ?, 1)',
    )
    for (const name of ORIGINS) site.run(name, 'mallory', name, null)
    site.run('proven', 'alice', 'http://shop.example', 1)
    old.close()
    const db = openDb(file)
    const all = db.$client.prepare('SELECT id, name, host, is_first AS isFirst FROM sites').all()
    const expected = [...ORIGINS, 'http://shop.example'].map((name) => {
      const host = new URL(name).hostname
      const id = name === 'http://shop.example' ? 'proven' : name
      return { id, name, host, isFirst: host === 'shop.example' && id !== 'proven' ? 0 : 1 }
    })
    assert.deepEqual(all, expected)
    db.$client.close()
  })
})
