import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Parser } from 'tar'
import { exportAccount } from '../../../lib/accounts/export/export-account.ts'
import { readColumn, write, ZERO_BYTE } from '../../support/database/sql.ts'
import { NOON } from '../../support/helpers.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { freshClient } from '../../support/scene/send.ts'
import { PASSWORD } from '../../support/sign-in.ts'
import { words } from '../../support/words.ts'

const app = freshScene()
const ada = app.user('ada')

const PATH = '/v1/account/me/export'
const SITE = '2f0c9a54-8d2e-4c58-9f5a-3c1b7f6e4d20'

async function download(path: string, headers: Readonly<Record<string, string>>) {
  const request = new Request(`http://127.0.0.1:8787${path}`, { headers })
  const response = await app.app.fetch(request, { remoteAddress: freshClient() })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** The files of the archive, as the package tar reads them. */
async function unpack(archive: Buffer): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      const chunks: Buffer[] = []
      entry.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
      entry.on('end', () => files.set(entry.path, Buffer.concat(chunks).toString()))
    },
  })
  await new Promise<void>((resolve, reject) => {
    parser.on('end', resolve)
    parser.on('error', reject)
    parser.end(gunzipSync(archive))
  })
  return files
}

async function filled() {
  const session = await ada.signUp()
  const key = await ada.key()
  await app.user('eve').key()
  await ada.lookUp()
  await app.services.ledger.flush()
  await download('/v1/account/me', session.headers)
  await app.services.ledger.flush()
  await write(
    app,
    `
    INSERT INTO spending_caps (user_id, currency, amount)
      SELECT id, 'usd', 500 FROM users WHERE email LIKE 'ada%';
    INSERT INTO usage_by_month (month, user_id, key_id, requests, errors, limited)
      SELECT 20423, id, 'eve', 1, 0, 0 FROM users WHERE email LIKE 'eve%';
    INSERT INTO usage_by_month (month, user_id, key_id, requests, errors, limited)
      SELECT 20423, id, '', 4, 2, 1 FROM users WHERE email LIKE 'ada%';
    INSERT INTO second_factors (user_id, secret, confirmed_at)
      SELECT id, 'sealed secret', 1 FROM users;
    INSERT INTO trials (user_id, started_at) SELECT id, 1 FROM users WHERE email LIKE 'ada%';
    INSERT INTO cap_notices (id, channel, user_id, email, threshold, requests, state, created_at,
        queued_at, due_at, attempts)
      SELECT id, 'mail', id, email, 'near_cap', 80, 'waiting', 1, 1, 1, 0 FROM users;
    INSERT INTO sites (id, user_id, name, created_at)
      SELECT '${SITE}', id, 'https://ada.example', 1 FROM users WHERE email LIKE 'ada%';
    INSERT INTO sites (id, user_id, name, created_at)
      SELECT 'other', id, 'https://eve.example', 1 FROM users WHERE email LIKE 'eve%';
    INSERT INTO site_links (id, user_id, site_id, hash, created_at, expires_at)
      SELECT 'link of ' || id, user_id, id, 'hash of ' || id, 1, 2 FROM sites;
    INSERT INTO vitals_alerts (site_id, user_id, created_at, day, poor)
      SELECT id, user_id, 1, 20468, 'mobile-lcp' FROM sites;
    INSERT INTO rum_paths (site_id, day, path, samples, sketches) VALUES ('other', 1, '/eve', 1, ${ZERO_BYTE});
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
    INSERT INTO rum_hours (site_id, hour, country, device, samples, lcp_p75)
      SELECT '${SITE}', 500000 + i / 50, CAST(10 + i % 50 AS TEXT), '', 1, i FROM n;`,
  )
  return { ...session, key }
}

describe('GET /v1/account/me/export', () => {
  it('is one archive of everything about the account, and of nobody else', async () => {
    const { token, key, headers } = await filled()
    const { response, bytes } = await download(PATH, headers)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/gzip')
    assert.match(response.headers.get('content-disposition') ?? '', /filename="meridian-2026-01-15/)
    const files = await unpack(bytes)
    const kinds = new Set([...files.keys()].map((name) => name.slice(0, -10)))
    const expected = words(`
      profile keys sites vitals-links vitals-alerts sessions second-factor usage-by-operation usage-by-month usage-by-period
      trial spending-cap limit-notices audit-log telemetry-by-hour`)
    assert.deepEqual([...kinds], expected)
    const [profile] = JSON.parse(files.get('profile-0001.json') ?? '')
    assert.equal(profile.email, 'ada@example.com')
    assert.match(profile.created_at, /^20\d\d-\d\d-\d\dT[\d:.]+Z$/)
    const [ofSession, counted] = JSON.parse(files.get('usage-by-operation-0001.json') ?? '')
    assert.deepEqual([ofSession.key_id, ofSession.used_at], ['', null])
    const { key_id, ...answered } = counted
    const [keyRow] = JSON.parse(files.get('keys-0001.json') ?? '')
    assert.deepEqual([keyRow.id, keyRow.last_used_at], [key_id, new Date(NOON).toISOString()])
    assert.match(key_id, /^[0-9a-f]{32}$/)
    const answer = { operation: 'locateAddress', status: 200, requests: 1, look_ups: 1 }
    const times = { day: '2026-01-15', used_at: new Date(NOON).toISOString() }
    assert.deepEqual(answered, { ...times, ...answer })
    const months = JSON.parse(files.get('usage-by-month-0001.json') ?? '')
    const sums = { requests: 4, errors: 2, limited: 1 }
    assert.deepEqual(months, [{ month: '2025-12-01', key_id: '', ...sums }])
    const [factor] = JSON.parse(files.get('second-factor-0001.json') ?? '')
    assert.deepEqual(factor, { confirmed_at: '1970-01-01T00:00:00.001Z' })
    const all = [...files.values()].join()
    for (const secret of [token, key, PASSWORD, 'sealed secret', 'hash of', 'eve'])
      assert.equal(all.includes(secret), false)
  })

  it('reads large tables in pieces, each row once', async () => {
    const { headers } = await filled()
    const files = await unpack((await download(PATH, headers)).bytes)
    const parts = [...files].filter(([name]) => name.startsWith('telemetry-by-hour'))
    const rows = parts.map(([, text]) => JSON.parse(text) as { lcp_p75: number }[]) // safe: ours
    const lengths = rows.map(({ length }) => length)
    assert.deepEqual(lengths, [1_000, 1_000, 500])
    assert.equal(new Set(rows.flat().map(({ lcp_p75 }) => lcp_p75)).size, 2_500)
  })

  it('has no hash of a key, a session or a password', async () => {
    const { headers } = await filled()
    const all = [...(await unpack((await download(PATH, headers)).bytes)).values()].join()
    const hashes = [
      ...(await readColumn(app, 'SELECT hash FROM api_keys')),
      ...(await readColumn(app, 'SELECT token_hash FROM sessions')),
      ...(await readColumn(app, 'SELECT password FROM accounts')),
    ]
    assert.ok(hashes.length >= 4)
    for (const hash of hashes) assert.equal(all.includes(String(hash)), false)
  })

  it('is audited, and limited', async () => {
    const { headers, send } = await filled()
    const statuses = []
    for (let time = 0; time < 11; time++) {
      statuses.push((await download(PATH, headers)).response.status)
    }
    assert.deepEqual([statuses[9], statuses[10]], [200, 429])
    const { body } = await send('GET', '/v1/account/me/audit?action=export_account')
    assert.equal((body as { total: number }).total, 10) // safe: checked against the contract
  })

  it('is not audited if only its headers are asked for', async () => {
    const { headers, send } = await ada.signUp()
    const cookie = await ada.enter()
    const asked: [string, Record<string, string>][] = [
      [PATH, headers],
      ['/app/account/export', { cookie }],
    ]
    for (const [path, by] of asked) {
      const request = new Request(`http://localhost${path}`, { method: 'HEAD', headers: by })
      const { status, headers: head } = await app.app.fetch(request, { remoteAddress: '192.0.2.1' })
      assert.equal(status, 200, path)
      assert.match(head.get('content-disposition') ?? '', /^attachment/)
    }
    const { body } = await send('GET', '/v1/account/me/audit?action=export_account')
    assert.equal((body as { total: number }).total, 0) // safe: checked against the contract
  })

  it('is a download of the dashboard', async () => {
    const cookie = await ada.enter()
    const { html } = await ada.visit('/app/account')
    assert.match(html, /href="\/app\/account\/export"/)
    const { response, bytes } = await download('/app/account/export', { cookie })
    assert.equal(response.headers.get('content-type'), 'application/gzip')
    assert.ok((await unpack(bytes)).has('profile-0001.json'))
  })
})

describe('an export', () => {
  const lastUses = new Map<string, number>()
  const options = { userId: 'usr_ada', now: 0, lastUses, onError: assert.ifError }

  it('is no archive if the first rows cannot be read', async () => {
    const execute = () => Promise.reject(new Error('the disk fails'))
    await assert.rejects(async () => exportAccount({ execute }, options), /the disk fails/)
  })

  it('breaks off, and is reported, if later rows cannot be read', async () => {
    const execute = async ({ sql }: { readonly sql: string }) => {
      if (!sql.includes('FROM users')) throw new Error('the disk fails')
      return { changes: 0, rows: [['usr_ada']] }
    }
    const { promise: reported, resolve: onError } = Promise.withResolvers<unknown>()
    const archive = await exportAccount({ execute }, { ...options, onError })
    await assert.rejects(new Response(archive).arrayBuffer(), /the disk fails/)
    assert.match(String(await reported), /the disk fails/)
  })
})
