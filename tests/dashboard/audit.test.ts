import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type AuditEvent, insertAudit } from '../../lib/accounts/audit.ts'
import { ACTION_LABELS } from '../../lib/contract/account/audit-actions.ts'
import { transact } from '../../lib/db/transaction.ts'
import { ActionSelect } from '../../pages/dashboard/audit/action-select.tsx'
import { AuditEntry } from '../../pages/dashboard/audit/audit-entry.tsx'
import { labelOf } from '../../pages/dashboard/audit/audit-labels.ts'
import { write } from '../support/database/sql.ts'
import { NOON } from '../support/helpers.ts'
import { freshScene } from '../support/scene/scene.ts'

const app = freshScene()
const ada = app.user('ada')

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Adds audit entries for Ada, oldest first. */
async function add(events: readonly Partial<AuditEvent>[]): Promise<void> {
  const user = await ada.row()
  const known = { app: 'api', actorId: user.id, action: 'create_key', createdAt: NOON } as const
  await transact(app.services.db, async (queries) => {
    for (const event of events) await insertAudit(queries, { ...known, ...event }).run()
  })
}

function linksOf(html: string): string[] {
  const nav = /<nav class="actions pages"[\s\S]*?<\/nav>/.exec(html)?.[0] ?? ''
  return [...nav.matchAll(/href="([^"]*)">([^<]*)/g)].map(
    ([, path = '', text]) => `${text} ${path.replaceAll('&amp;', '&')}`,
  )
}

describe('GET /app/audit', () => {
  it('describes each action with its actor, target and source', async () => {
    await ada.submit('/app/keys', { name: 'Production server' })
    const { status, html } = await ada.visit('/app/audit')
    assert.equal(status, 200)
    const entry = /<li><details><summary>.*?<\/li>/.exec(html)?.[0] ?? ''
    const [line = '', facts = ''] = entry.split('</summary>')
    assert.match(line, /<strong>Key created<\/strong> <bdi>Production server<\/bdi>/)
    assert.match(line, /by <bdi>ada@example\.com<\/bdi> · Dashboard · <time /)
    assert.match(line, / datetime="2026-01-15T12:00:00.000Z">2026-01-15 12:00:00</)
    assert.doesNotMatch(line, /create_key|[0-9a-f]{32}|badge/)
    assert.match(facts, /create_key.*api key.*<code>[0-9a-f]{32}/)
  })

  it('links from page to page and keeps the search', async () => {
    await add(Array.from({ length: 120 }, (_, n) => ({ detail: `shop ${n}.` })))
    const query = '/app/audit?action=create_key&search=shop'
    const first = await ada.visit(query)
    assert.match(first.html, /120 entries, newest first/)
    assert.match(first.html, /shop 119\.[\s\S]*shop 70\./)
    assert.doesNotMatch(first.html, /shop 69\./)
    assert.deepEqual(linksOf(first.html), [`Next ${query}&page=2`, `Last ${query}&page=3`])
    const second = await ada.visit(`${query}&page=2`)
    assert.match(second.html, /Page 2 of 3/)
    assert.deepEqual(linksOf(second.html), [
      `First ${query}`,
      `Previous ${query}`,
      `Next ${query}&page=3`,
      `Last ${query}&page=3`,
    ])
    const last = await ada.visit(`${query}&page=3`)
    assert.match(last.html, /shop 19\.[\s\S]*shop 0\./)
    assert.deepEqual(linksOf(last.html), [`First ${query}`, `Previous ${query}&page=2`])
    const beyond = await ada.visit(`${query}&page=9`)
    assert.match(beyond.html, /There is no page 9/)
    assert.deepEqual(linksOf(beyond.html), [`First ${query}`, `Previous ${query}&page=3`])
  })

  it('shows the first page when the page number is invalid', async () => {
    for (const page of ['0', '-1', 'two', '1.5', '99999999999', '']) {
      const { status, html } = await ada.visit(`/app/audit?page=${page}`)
      assert.equal(status, 200, page)
      assert.match(html, /Signed in/, page)
    }
  })

  it('offers the actions that concern an account, and the chosen one', async () => {
    const { html } = await ada.visit('/app/audit')
    assert.match(html, /<option value="create_key">Key created/)
    assert.doesNotMatch(html, /value="run_doctor"/)
    const chosen = await ada.visit('/app/audit?action=run_doctor')
    assert.match(chosen.html, /<option value="run_doctor" selected="">Doctor started/)
  })

  it('says that no entries match', async () => {
    const { html } = await ada.visit('/app/audit?search=nothing+such')
    assert.match(html, /No entries match/)
    assert.match(html, /value="nothing such"/)
  })

  it('shows the name of an action without a description', async () => {
    await add([{ action: 'fly_away' }])
    const { html } = await ada.visit('/app/audit?action=fly_away')
    assert.match(html, /<option value="fly_away" selected="">fly_away/)
    assert.match(html, /<strong>fly_away<\/strong>/)
    assert.match((await ada.visit('/app/audit?action=constructor')).html, /No entries/)
  })

  it('escapes markup in stored and typed texts', async () => {
    const text = '"><script>alert(1)</script>'
    await add([{ action: text, actorLabel: text, targetType: text, targetId: text, detail: text }])
    const query = new URLSearchParams({ search: text })
    for (const path of ['/app/audit', `/app/audit?${query}`, `/app/audit?action=${query}`]) {
      const { html } = await ada.visit(path)
      assert.ok(!html.includes('<script>alert'), path)
      assert.ok(html.includes('&lt;script&gt;alert(1)'), path)
    }
  })

  it('shows why the API refuses the request', async () => {
    const long = await ada.visit(`/app/audit?search=${'x'.repeat(201)}`)
    assert.equal(long.status, 400)
    assert.match(long.html, /role="alert">search: /)
    await write(app, 'ALTER TABLE audit_log RENAME TO elsewhere')
    const { status, html } = await ada.visit('/app/audit')
    assert.equal(status, 503)
    assert.match(html, /role="alert">Cannot read the audit log now\./)
  })
})

describe('the descriptions of actions', () => {
  it('cover every action, of code and of triggers', () => {
    const triggers = globSync('lib/db/migrations/*.sql', { cwd: root })
      .map((file) => readFileSync(`${root}${file}`, 'utf8'))
      .flatMap((source) => [...source.matchAll(/email, '([a-z_]+)', NEW/g)])
      .map(([, action = '']) => action)
    assert.ok(triggers.length > 2)
    // The type AuditAction restricts the code to this list.
    const written = new Set([...Object.keys(ACTION_LABELS), ...triggers])
    assert.ok(written.size > 20)
    const undescribed = [...written].filter((action) => labelOf(action, ACTION_LABELS) === action)
    assert.deepEqual(undescribed, [])
  })
})

describe('an entry of the audit log', () => {
  const entry = {
    id: 1,
    actor_id: 'user-1',
    actor_label: null,
    action: 'subscription_updated',
    target_type: null,
    target_id: null,
    detail: null,
    created_at: 1_768_478_400,
  }

  it('names Stripe, not the id of the user, for what Stripe did', () => {
    assert.match(String(AuditEntry({ entry: { ...entry, app: 'stripe' } })), /by <bdi>Stripe</)
    assert.match(String(AuditEntry({ entry: { ...entry, app: 'cli' } })), /by <bdi>user-1</)
  })
})

describe('the choice of an action', () => {
  it('is in the order of what it shows', () => {
    const html = String(ActionSelect({ chosen: '' }))
    const [all, ...labels] = [...html.matchAll(/<option[^>]*>([^<]*)/g)].map(([, text]) => text)
    assert.equal(all, 'All actions')
    assert.ok(labels.length > 50)
    const sorted = labels.toSorted((one = '', other = '') => one.localeCompare(other))
    assert.deepEqual(labels, sorted)
  })
})
