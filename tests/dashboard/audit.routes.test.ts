import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type AuditEvent, insertAudit } from '../../lib/accounts/audit.ts'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { ACTIONS, wordsFor } from '../../pages/dashboard/audit-words.ts'
import { ask, enter } from '../dashboard.ts'
import { makeApp, NOON, type TestApp } from '../helpers.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

type Event = Partial<
  Pick<AuditEvent, 'action' | 'actorLabel' | 'targetType' | 'targetId' | 'detail'>
>

/** Adds what Ada did, oldest first. */
async function add({ services }: TestApp, events: readonly Event[]): Promise<void> {
  const user = await findUserByEmail(services.db, 'ada@example.com')
  assert.ok(user)
  const known = { app: 'api', actorId: user.id, action: 'create_key', createdAt: NOON } as const
  services.db.$client.transaction(() => {
    for (const event of events) insertAudit(services.db, { ...known, ...event }).run()
  })()
}

function linksOf(html: string): string[] {
  const nav = /<nav class="actions pages"[\s\S]*?<\/nav>/.exec(html)?.[0] ?? ''
  return [...nav.matchAll(/href="([^"]*)">([^<]*)/g)].map(
    ([, path = '', text]) => `${text} ${path.replaceAll('&amp;', '&')}`,
  )
}

describe('the page of the audit log', () => {
  it('says in words what was done, by whom, to what and from where', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    await ask(app, '/app/keys', { cookie, form: { name: 'Production server' } })
    const { status, html } = await ask(app, '/app/audit', { cookie })
    assert.equal(status, 200)
    assert.match(html, /<strong>Key created<\/strong> <code class="soft">create_key<\/code>/)
    assert.match(html, /class="detail">Production server/)
    assert.match(html, /by ada@example\.com · api key <code>[0-9a-f]{32}/)
    assert.match(html, /class="badge">Dashboard/)
    assert.match(html, /<time datetime="2026-01-15T12:00:00.000Z">2026-01-15 12:00:00/)
  })

  it('goes from page to page, with what is searched for', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const events = Array.from({ length: 120 }, (_, n) => ({ detail: `shop ${n}.` }))
    await add(app, events)
    const first = await ask(app, '/app/audit?action=create_key&search=shop', { cookie })
    assert.match(first.html, /120 entries, newest first/)
    assert.match(first.html, /shop 119\.[\s\S]*shop 70\./)
    assert.doesNotMatch(first.html, /shop 69\./)
    const query = '/app/audit?action=create_key&search=shop'
    assert.deepEqual(linksOf(first.html), [`Next ${query}&page=2`, `Last ${query}&page=3`])
    const second = await ask(app, `${query}&page=2`, { cookie })
    assert.match(second.html, /Page 2 of 3/)
    assert.deepEqual(linksOf(second.html), [
      `First ${query}`,
      `Previous ${query}`,
      `Next ${query}&page=3`,
      `Last ${query}&page=3`,
    ])
    const last = await ask(app, `${query}&page=3`, { cookie })
    assert.match(last.html, /shop 19\.[\s\S]*shop 0\./)
    assert.deepEqual(linksOf(last.html), [`First ${query}`, `Previous ${query}&page=2`])
    const beyond = await ask(app, `${query}&page=9`, { cookie })
    assert.match(beyond.html, /There is no page 9/)
    assert.deepEqual(linksOf(beyond.html), [`First ${query}`, `Previous ${query}&page=3`])
  })

  it('takes what is no page for the first', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    for (const page of ['0', '-1', 'two', '1.5', '99999999999', '']) {
      const { status, html } = await ask(app, `/app/audit?page=${page}`, { cookie })
      assert.equal(status, 200, page)
      assert.match(html, /Signed in/, page)
    }
  })

  it('says that nothing matches', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const { html } = await ask(app, '/app/audit?search=nothing+such', { cookie })
    assert.match(html, /No entry matches/)
    assert.match(html, /value="nothing such"/)
  })

  it('keeps an action that it has no words for', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    await add(app, [{ action: 'fly_away' }])
    const { html } = await ask(app, '/app/audit?action=fly_away', { cookie })
    assert.match(html, /<option value="fly_away" selected="">fly_away/)
    assert.match(html, /<strong>fly_away<\/strong>/)
    assert.match((await ask(app, '/app/audit?action=constructor', { cookie })).html, /No entry/)
  })

  it('shows markup in everything stored and typed as text', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const text = '"><script>alert(1)</script>'
    await add(app, [
      { action: text, actorLabel: text, targetType: text, targetId: text, detail: text },
    ])
    const query = new URLSearchParams({ search: text })
    for (const path of ['/app/audit', `/app/audit?${query}`, `/app/audit?action=${query}`]) {
      const { html } = await ask(app, path, { cookie })
      assert.ok(!html.includes('<script>alert'), path)
      assert.ok(html.includes('&lt;script&gt;alert(1)'), path)
    }
  })

  it('says that the log cannot be read now, or not like this', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const long = await ask(app, `/app/audit?search=${'x'.repeat(201)}`, { cookie })
    assert.equal(long.status, 400)
    assert.match(long.html, /role="alert">search: /)
    app.services.db.$client.exec('DROP INDEX audit_log_by_actor')
    const { status, html } = await ask(app, '/app/audit', { cookie })
    assert.equal(status, 503)
    assert.match(html, /role="alert">Cannot read the audit log now\./)
  })
})

describe('the words for actions', () => {
  it('are there for every action that is written', () => {
    const sources = ['{lib,routes,scripts}/**/*.ts', 'lib/db/migrations/*.sql']
      .flatMap((pattern) => globSync(pattern, { cwd: root }))
      .filter((file) => !/^lib\/contract|^scripts\/(bench|key-options)/.test(file))
      .map((file) => readFileSync(`${root}${file}`, 'utf8'))
    const written = sources.flatMap((source) =>
      [...source.matchAll(/action(?:: | =[^\n]*[?:] )'([a-z_]+)'|email, '([a-z_]+)', NEW/g)].map(
        ([, inCode, inTrigger]) => inCode ?? inTrigger ?? '',
      ),
    )
    assert.ok(written.length > 20)
    const wordless = new Set(written.filter((action) => wordsFor(action, ACTIONS) === action))
    assert.deepEqual([...wordless], [])
  })
})
