import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as v from 'valibot'
import { Site } from '../../lib/contract/account/account-schemas.ts'
import { auditLog } from '../../lib/db/tables.ts'
import type { Answer } from '../support/contract-check.ts'
import { makeFail } from '../support/database/sql.ts'
import { codeOf, NOON, steadyHeaders, withoutAccountLimit } from '../support/helpers.ts'
import { anyCharacter } from '../support/quick/any-character.ts'
import type { KeyOptions } from '../support/scene/make-key.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { words } from '../support/words.ts'

const SITES = '/v1/account/me/sites'
const REQUEST_ID = '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01'

const plansFile = join(tempFolder(), 'plans.json')
const common = { monthlyCap: 1, maxKeys: 9, requestsPerMinute: 1 }
writeFileSync(
  plansFile,
  JSON.stringify([
    { ...common, id: 'free', name: 'Free', maxSites: 1, price: 0 },
    { ...common, id: 'pro', name: 'Pro', maxSites: 3, price: 1 },
    { ...common, id: 'wide', name: 'Wide', maxSites: 1_000_000, price: 2 },
    { ...common, id: 'none', name: 'None', maxSites: 0, price: 3 },
  ]),
)

const app = sharedScene({ env: { MERIDIAN_PLANS: plansFile }, replace: withoutAccountLimit })

let users = 0
/** A new user with a key, and requests for sites with that key. */
async function newCaller(options: KeyOptions = {}) {
  const key = await app.makeKey({ email: `user${users++}@example.com`, ...options })
  return {
    key,
    create: (name: unknown) => app.send('POST', SITES, { key, body: { name } }),
    list: async () => v.parse(v.array(Site), (await app.send('GET', SITES, { key })).body),
    remove: (id: string) => app.send('DELETE', `${SITES}/${id}`, { key }),
    audit: async () => {
      const rows = await app.services.db.select().from(auditLog).orderBy(auditLog.id).all()
      return rows.filter(({ actorLabel }) => actorLabel === key.slice(0, 16))
    },
  }
}

const siteOf = ({ body }: Answer) => v.parse(Site, body)

describe('POST /v1/account/me/sites', () => {
  it('registers the origin, normalised, and shows it', async () => {
    const { create, list } = await newCaller()
    const answer = await create('HTTPS://Bücher.Example:443/')
    assert.equal(answer.status, 201)
    const site = siteOf(answer)
    assert.equal(site.name, 'https://xn--bcher-kva.example')
    assert.equal(site.createdAt, new Date(NOON).toISOString())
    assert.deepEqual(await list(), [site])
  })

  it('accepts http for any host', async () => {
    const { create } = await newCaller()
    assert.equal(siteOf(await create('http://shop.example:80')).name, 'http://shop.example')
  })

  const bad = [
    ...words(`
      https://shop.example/path https://shop.example// https://shop.example?q=1
      https://shop.example#top https://ada:secret@shop.example https://*.shop.example
      https://＊.shop.example shop.example ftp://shop.example capacitor://localhost
      ionic://localhost tauri://localhost/`),
    ...['', `https://${'a'.repeat(300)}.example`, null, 7, ['https://shop.example']],
  ]
  for (const name of bad) {
    it(`refuses ${JSON.stringify(name).slice(0, 50)}`, async () => {
      const { create, list, audit } = await newCaller()
      const answer = await create(name)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
      assert.equal(answer.text.includes('secret'), false)
      assert.deepEqual(await list(), [])
      assert.deepEqual(await audit(), [])
    })
  }

  it('never fails, whatever the name, and stores the origin as browsers send it', async () => {
    const { create } = await newCaller({ plan: 'wide' })
    const name = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.webUrl(),
      fc.webUrl().map((url) => new URL(url).origin),
      fc.string({ unit: 'grapheme' }).map((text) => `https://${text}`),
      fc.jsonValue(),
    )
    await fc.assert(
      fc.asyncProperty(name, async (given) => {
        const answer = await create(given)
        if (answer.status !== 201) {
          assert.match(codeOf(answer), /^(BAD_REQUEST|SITE_EXISTS)$/)
          return
        }
        const site = siteOf(answer)
        assert.equal(site.name, new URL(String(given)).origin)
        assert.equal(codeOf(await create(given)), 'SITE_EXISTS')
        assert.equal(codeOf(await create(site.name)), 'SITE_EXISTS')
      }),
      { numRuns: 300 },
    )
  })

  it('refuses an origin that the user already has, in any spelling', async () => {
    const { create, list } = await newCaller()
    await create('https://shop.example')
    for (const name of ['https://shop.example', 'HTTPS://SHOP.example:443/']) {
      assert.equal(codeOf(await create(name)), 'SITE_EXISTS')
    }
    assert.equal((await create('https://shop.example:8443')).status, 201)
    assert.equal((await create('http://shop.example')).status, 201)
    assert.equal((await list()).length, 3)
  })

  it('reports the reached limit, or that the site exists if the user already has it', async () => {
    const { create } = await newCaller({ plan: 'free' })
    assert.equal((await create('https://one.example')).status, 201)
    assert.equal(codeOf(await create('https://two.example')), 'SITE_LIMIT_REACHED')
    assert.equal(codeOf(await create('https://one.example')), 'SITE_EXISTS')
    const none = await newCaller({ plan: 'none' })
    assert.equal(codeOf(await none.create('https://one.example')), 'SITE_LIMIT_REACHED')
  })

  it('follows a change of plan', async () => {
    const email = 'grows@example.com'
    const { create } = await newCaller({ email, plan: 'free' })
    await create('https://one.example')
    assert.equal(codeOf(await create('https://two.example')), 'SITE_LIMIT_REACHED')
    await app.makeKey({ email, plan: 'pro' })
    assert.equal((await create('https://two.example')).status, 201)
  })

  it('keeps the limit when 50 requests arrive at once', async () => {
    const { create, list, audit } = await newCaller()
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => create(`https://shop${n}.example`)),
    )
    assert.equal(answers.filter(({ status }) => status === 201).length, 3)
    assert.equal(answers.filter(({ status }) => status === 403).length, 47)
    assert.equal((await list()).length, 3)
    assert.equal((await audit()).length, 3)
  })

  it('registers one origin once when 50 requests arrive at once', async () => {
    const { create, list } = await newCaller({ plan: 'wide' })
    const answers = await Promise.all(Array.from({ length: 50 }, () => create('https://a.example')))
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    assert.equal(answers.filter((answer) => answer.status === 400).length, 49)
    assert.equal((await list()).length, 1)
  })

  it('writes to the audit log', async () => {
    const { key, create, audit } = await newCaller()
    const site = siteOf(await create('https://shop.example'))
    const [{ id, searchText, ...row } = assert.fail('no row'), ...more] = await audit()
    const by = { app: 'api', actorId: site.userId, actorLabel: key.slice(0, 16), createdAt: NOON }
    const target = { targetType: 'site', targetId: site.id, detail: 'https://shop.example' }
    assert.deepEqual(row, { ...by, action: 'create_site', ...target })
    assert.deepEqual(more, [])
  })

  it('registers nothing if the audit log cannot be written', async () => {
    const { create, list, remove } = await newCaller()
    const site = siteOf(await create('https://kept.example'))
    const failing = await makeFail(app.services, 'INSERT ON audit_log')
    try {
      assert.equal(codeOf(await create('https://shop.example')), 'INTERNAL')
      assert.equal(codeOf(await remove(site.id)), 'INTERNAL')
    } finally {
      await failing.remove()
    }
    assert.deepEqual(await list(), [site])
  })
})

describe('GET /v1/account/me/sites', () => {
  it('lists the oldest first', async () => {
    const { create, list } = await newCaller({ plan: 'wide' })
    const names = ['m', 'z', 'a', 'k', 'b'].map((label) => `https://${label}.example`)
    for (const name of names) await create(name)
    const listed = (await list()).map(({ name }) => name)
    assert.deepEqual(listed, names)
  })

  it('shows each user their own sites, even if two have the same origin', async () => {
    const [one, two] = [await newCaller(), await newCaller()]
    const [a, b] = [await one.create('https://a.example'), await two.create('https://a.example')]
    assert.equal(b.status, 201)
    assert.deepEqual(await one.list(), [siteOf(a)])
    assert.deepEqual(await two.list(), [siteOf(b)])
    assert.notEqual(siteOf(a).userId, siteOf(b).userId)
  })

  it("shows the user's sites through each of their keys", async () => {
    const email = 'keys@example.com'
    const [one, two] = [await newCaller({ email }), await newCaller({ email })]
    const site = siteOf(await one.create('https://a.example'))
    assert.deepEqual(await two.list(), [site])
  })
})

describe('DELETE /v1/account/me/sites/{siteId}', () => {
  it('removes the site, makes room for another, and writes to the audit log', async () => {
    const { create, list, remove, audit } = await newCaller({ plan: 'free' })
    const site = siteOf(await create('https://one.example'))
    const { status, text } = await remove(site.id)
    assert.deepEqual({ status, text }, { status: 204, text: '' })
    assert.deepEqual(await list(), [])
    assert.equal((await create('https://two.example')).status, 201)
    const entries = (await audit()).map(({ action, targetType, targetId, detail }) =>
      [action, targetType, targetId === site.id, detail].join(' '),
    )
    assert.deepEqual(entries, [
      'create_site site true https://one.example',
      'delete_site site true https://one.example',
      'create_site site false https://two.example',
    ])
  })

  it('answers 404 for a site of another user, as for a missing one', async () => {
    const [owner, other] = [await newCaller(), await newCaller()]
    const site = siteOf(await owner.create('https://a.example'))
    const options = { key: other.key, headers: { 'x-request-id': REQUEST_ID } }
    const foreign = await app.send('DELETE', `${SITES}/${site.id}`, options)
    const unknown = await app.send('DELETE', `${SITES}/${crypto.randomUUID()}`, options)
    assert.equal(foreign.status, 404)
    assert.equal(foreign.text, unknown.text)
    assert.deepEqual(steadyHeaders(foreign), steadyHeaders(unknown))
    assert.match(foreign.text, /"NOT_FOUND".*"Site not found"/)
    assert.deepEqual(await owner.list(), [site])
    assert.deepEqual(await other.audit(), [])
  })

  it('answers 404 for a malformed id', async () => {
    const { remove } = await newCaller()
    for (const id of ['x', '%00', '%ff', '%', "'%20OR%201=1", 'a'.repeat(2_000), '%F0%9F%8C%8D']) {
      assert.equal(codeOf(await remove(id)), 'NOT_FOUND', id)
    }
  })

  it('removes a site once when requests arrive at once', async () => {
    const { create, remove, audit } = await newCaller()
    const site = siteOf(await create('https://a.example'))
    const answers = await Promise.all(Array.from({ length: 50 }, () => remove(site.id)))
    assert.equal(answers.filter(({ status }) => status === 204).length, 1)
    assert.equal(answers.filter(({ status }) => status === 404).length, 49)
    assert.equal((await audit()).length, 2)
  })
})
