import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addTrigger,
  readColumn,
  readRows,
  readValue,
  write,
  ZERO_BYTE,
} from '../../support/database/sql.ts'
import { ON_POSTGRES } from '../../support/database/test-database.ts'
import { codeOf, makeApp, type TestApp } from '../../support/helpers.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { PASSWORD, sendAuth, signUp } from '../../support/sign-in.ts'

const app = freshScene()
const ada = app.user('ada')

const PATH = '/v1/account/me/delete'
const EMAIL = 'ada@example.com'

interface Wanted {
  readonly body?: unknown
  readonly token?: string
  readonly key?: string
}

function askToDelete(app: TestApp, { body, token, key }: Wanted) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const sent = { headers, body: body ?? { email: EMAIL, password: PASSWORD } }
  return app.send('POST', PATH, key === undefined ? sent : { ...sent, key })
}

async function countOf(app: TestApp, sql: string): Promise<number> {
  return Number(await readValue(app, sql))
}

/** The tables that still have a row of the user or of the site. */
async function tablesWith(app: TestApp, column: string, id: string): Promise<string[]> {
  const all = ON_POSTGRES
    ? "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = ?"
    : `SELECT m.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
       WHERE m.type = 'table' AND c.name = ?`
  const tables = (await readColumn(app, all, column)).map(String)
  const found: string[] = []
  for (const table of tables) {
    const [row] = await readRows(app, `SELECT 1 FROM ${table} WHERE ${column} = ?`, id)
    if (row !== undefined) found.push(table)
  }
  return found
}

describe('POST /v1/account/me/delete', () => {
  it('deletes every row of the account, and leaves those of others', async () => {
    const token = await signUp(app, EMAIL)
    await signUp(app, 'eve@example.com')
    const { userId, siteId } = await fill(app, token)
    const answer = await askToDelete(app, { token })
    assert.deepEqual([answer.status, answer.body], [200, { deleted: true }])
    // Other processes still have to notice that the keys are gone.
    assert.deepEqual(await tablesWith(app, 'user_id', userId), ['access_changes'])
    assert.deepEqual(await tablesWith(app, 'site_id', siteId), [])
    assert.equal(await countOf(app, 'SELECT count(*) FROM users'), 1)
    assert.equal(await countOf(app, 'SELECT count(*) FROM sessions'), 1)
    // On PostgreSQL, a charge under way may come after the deletion. It is removed within a minute.
    if (!ON_POSTGRES) assert.equal(await countOf(app, 'SELECT count(*) FROM buckets'), 0)
  })

  it('ends keys and sessions at once, and frees the address', async () => {
    const token = await signUp(app, EMAIL)
    await ada.key()
    assert.equal((await askToDelete(app, { token })).status, 200)
    assert.equal((await ada.lookUp()).status, 401)
    const headers = { authorization: `Bearer ${token}` }
    assert.equal((await app.send('GET', '/v1/account/me', { headers })).status, 401)
    await signUp(app, EMAIL)
  })

  it('drops what was counted for the user in memory', async () => {
    const token = await signUp(app, EMAIL)
    await ada.key()
    await ada.lookUp()
    await askToDelete(app, { token })
    await app.services.ledger.flush()
    assert.equal(await countOf(app, 'SELECT count(*) FROM usage_by_operation'), 0)
    assert.equal(await countOf(app, 'SELECT count(*) FROM usage_by_period'), 0)
  })

  it('keeps the audit log without the person', async () => {
    const token = await signUp(app, EMAIL)
    const { userId } = await fill(app, token)
    await askToDelete(app, { token })
    const rows = await readRows(
      app,
      'SELECT action, actor_label, detail FROM audit_log WHERE actor_id = ? ORDER BY id',
      userId,
    )
    assert.equal(JSON.stringify(rows).includes('ada'), false)
    const actions = rows.map((row) => row[0])
    assert.deepEqual(actions, [
      'set_password',
      'login',
      'create_key',
      'create_site',
      'delete_account',
    ])
  })

  it('allows no other change of audit rows', async () => {
    const token = await signUp(app, EMAIL)
    const exec = (sql: string) => write(app, sql)
    const redact = 'UPDATE audit_log SET actor_label = NULL, detail = NULL'
    await assert.rejects(exec(redact), /cannot be changed/, 'the user exists')
    await askToDelete(app, { token })
    await exec(redact)
    await assert.rejects(exec(`${redact}, action = 'login'`), /cannot be changed/)
    await assert.rejects(exec("UPDATE audit_log SET actor_label = 'x'"), /cannot be changed/)
    await assert.rejects(exec("UPDATE audit_log SET detail = 'x'"), /cannot be changed/)
    await assert.rejects(exec('DELETE FROM audit_log'), /cannot be deleted/)
  })

  it('refuses another address, a wrong password and a missing one, and deletes nothing', async () => {
    const token = await signUp(app, EMAIL)
    const bad = [
      { email: 'eve@example.com', password: PASSWORD },
      { email: EMAIL, password: 'wrong horse' },
      { email: EMAIL },
    ]
    for (const body of bad) {
      const answer = await askToDelete(app, { token, body })
      assert.deepEqual([answer.status, codeOf(answer)], [400, 'BAD_REQUEST'])
    }
    assert.equal(await countOf(app, 'SELECT count(*) FROM users'), 1)
  })

  it('limits guesses of the password', async () => {
    const token = await signUp(app, EMAIL)
    const body = { email: EMAIL, password: 'wrong horse' }
    for (let tries = 0; tries < 20; tries++) await askToDelete(app, { token, body })
    assert.equal((await askToDelete(app, { token })).status, 429)
  })

  it('accepts a key with full access, with the password if there is one, and no other key', async () => {
    const limited = await app.makeKey({ email: EMAIL, scopes: ['account:read', 'account:write'] })
    const full = await app.makeKey({ email: EMAIL })
    const refused = await askToDelete(app, { key: limited, body: { email: EMAIL } })
    assert.equal(codeOf(refused), 'INSUFFICIENT_SCOPE')
    assert.equal((await askToDelete(app, { key: full, body: { email: EMAIL } })).status, 200)
    await signUp(app, 'eve@example.com')
    const key = await app.makeKey({ email: 'eve@example.com' })
    const body = { email: 'eve@example.com' }
    assert.equal((await askToDelete(app, { key, body })).status, 400)
    const withPassword = { ...body, password: PASSWORD }
    assert.equal((await askToDelete(app, { key, body: withPassword })).status, 200)
  })

  it('refuses a sign-in that was under way', async () => {
    await signUp(app, EMAIL)
    await addTrigger(app.services, 'INSERT ON sessions', 'DELETE FROM users WHERE id = NEW.user_id')
    const answer = await sendAuth(app, '/sign-in/email', { email: EMAIL, password: PASSWORD })
    assert.equal(answer.status, 401)
  })

  it('gives the origin of the user to the next one who proved it', async () => {
    const [first, second] = [await signUp(app, EMAIL), await signUp(app, 'eve@example.com')]
    for (const token of [first, second]) await addSite(app, token)
    await write(app, 'UPDATE sites SET is_first = 0, proven_at = 1')
    await write(
      app,
      "UPDATE sites SET proven_at = 100 WHERE user_id = (SELECT id FROM users WHERE email LIKE 'ada%')",
    )
    await askToDelete(app, { token: first })
    const headers = { authorization: `Bearer ${second}` }
    const { text } = await app.send('GET', '/v1/account/me/audit?action=gain_site', { headers })
    assert.match(text, /https:\/\/ada\.example/)
  })
})

async function addSite(app: TestApp, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const body = { name: 'https://ada.example' }
  const { status, body: site } = await app.send('POST', '/v1/account/me/sites', { headers, body })
  assert.equal(status, 201)
  return (site as { id: string }).id // safe: checked against the contract
}

/** Gives the user something of everything. */
async function fill(app: TestApp, token: string) {
  const headers = { authorization: `Bearer ${token}` }
  const body = { name: 'of ada' }
  const { body: made } = await app.send('POST', '/v1/account/me/keys', { headers, body })
  const key = (made as { rawKey: string }).rawKey // safe: checked against the contract
  const siteId = await addSite(app, token)
  await app.send('GET', '/v1/ip/81.2.69.160', { key })
  await app.services.ledger.flush()
  await sendAuth(app, '/request-password-reset', { email: EMAIL })
  const beacon = { metrics: { lcp: 1_000 }, path: '/' }
  const sent = { headers: { origin: 'https://ada.example' }, body: beacon }
  await app.send('POST', '/v1/telemetry/rum', sent)
  // Sums the beacon up, so that nothing about the site is only in memory.
  await app.services.storage.rum.writer.checkpointSite(siteId)
  const exec = (sql: string) => write(app, sql)
  const userId = String(await readValue(app, 'SELECT id FROM users WHERE email = ?', EMAIL))
  await exec(`INSERT INTO inquiries (id, user_id, name, email, message, state, created_at, queued_at, due_at, attempts)
    VALUES ('1', '${userId}', 'Ada', '${EMAIL}', 'Hello', 'kept', 1, 1, 1, 0)`)
  await exec(`INSERT INTO rum_days (site_id, day, country, device, samples, sketches)
    VALUES ('${siteId}', 1, '', '', 1, ${ZERO_BYTE})`)
  await exec(`INSERT INTO cap_notices (id, channel, user_id, email, threshold, requests, state, created_at, queued_at, due_at, attempts)
    VALUES ('1', 'mail', '${userId}', '${EMAIL}', 'near_cap', 80, 'waiting', 1, 1, 1, 0)`)
  return { userId, siteId }
}

describe('with a remote auth service', () => {
  it('deletes accounts of the command line, and refuses those of the service', async () => {
    const env = { MERIDIAN_AUTH_URL: 'http://127.0.0.1:9' }
    await using app = await makeApp({ env })
    const key = await app.makeKey({ email: EMAIL })
    const remote = await app.makeKey({ email: 'eve@example.com' })
    await write(app, "UPDATE users SET remote_id = 'remote' WHERE email = 'eve@example.com'")
    const refused = await askToDelete(app, { key: remote, body: { email: 'eve@example.com' } })
    assert.deepEqual([refused.status, codeOf(refused)], [403, 'FORBIDDEN'])
    assert.match(refused.text, /127\.0\.0\.1:9/)
    assert.equal((await askToDelete(app, { key, body: { email: EMAIL } })).status, 200)
  })
})
