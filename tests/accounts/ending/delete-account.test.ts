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
import { codeOf, makeApp } from '../../support/helpers.ts'
import type { Person, Session } from '../../support/scene/person.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { PASSWORD, sendAuth, signUp } from '../../support/sign-in.ts'
import { words } from '../../support/words.ts'

const app = freshScene()
const ada = app.user('ada')
const eve = app.user('eve')

const EMAIL = 'ada@example.com'

const askToDelete = (
  by: Pick<Session | Person, 'send'>,
  body: object = { email: EMAIL, password: PASSWORD },
) => by.send('POST', '/v1/account/me/delete', body)

const countOf = async (table: string) =>
  Number(await readValue(app, `SELECT count(*) FROM ${table}`))

/** The tables that still have a row of the user or of the site. */
async function tablesWith(column: string, id: string): Promise<string[]> {
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
    const session = await ada.signUp()
    await eve.signUp()
    const { userId, siteId } = await fill(session)
    const answer = await askToDelete(session)
    assert.deepEqual([answer.status, answer.body], [200, { deleted: true }])
    // Other processes still have to notice that the keys are gone.
    assert.deepEqual(await tablesWith('user_id', userId), ['access_changes'])
    assert.deepEqual(await tablesWith('site_id', siteId), [])
    assert.equal(await countOf('users'), 1)
    assert.equal(await countOf('sessions'), 1)
    // On PostgreSQL, a charge under way may come after the deletion. It is removed within a minute.
    if (!ON_POSTGRES) assert.equal(await countOf('buckets'), 0)
  })

  it('ends keys and sessions at once, and frees the address', async () => {
    const session = await ada.signUp()
    await ada.key()
    assert.equal((await askToDelete(session)).status, 200)
    assert.equal((await ada.lookUp()).status, 401)
    assert.equal((await session.send('GET', '/v1/account/me')).status, 401)
    await signUp(app, EMAIL)
  })

  it('drops what was counted for the user in memory', async () => {
    const session = await ada.signUp()
    await ada.key()
    await ada.lookUp()
    await askToDelete(session)
    await app.services.ledger.flush()
    assert.equal(await countOf('usage_by_operation'), 0)
    assert.equal(await countOf('usage_by_period'), 0)
  })

  it('keeps the audit log without the person', async () => {
    const session = await ada.signUp()
    const { userId } = await fill(session)
    await askToDelete(session)
    const left = 'SELECT action, actor_label, detail FROM audit_log WHERE actor_id = ? ORDER BY id'
    const rows = await readRows(app, left, userId)
    assert.equal(JSON.stringify(rows).includes('ada'), false)
    const actions = rows.map((row) => row[0])
    assert.deepEqual(actions, words('set_password login create_key create_site delete_account'))
  })

  it('allows no other change of audit rows', async () => {
    const session = await ada.signUp()
    const exec = (sql: string) => write(app, sql)
    const redact = 'UPDATE audit_log SET actor_label = NULL, detail = NULL'
    await assert.rejects(exec(redact), /cannot be changed/, 'the user exists')
    await askToDelete(session)
    await exec(redact)
    await assert.rejects(exec(`${redact}, action = 'login'`), /cannot be changed/)
    await assert.rejects(exec("UPDATE audit_log SET actor_label = 'x'"), /cannot be changed/)
    await assert.rejects(exec("UPDATE audit_log SET detail = 'x'"), /cannot be changed/)
    await assert.rejects(exec('DELETE FROM audit_log'), /cannot be deleted/)
  })

  it('refuses another address, a wrong password and a missing one, and deletes nothing', async () => {
    const session = await ada.signUp()
    const bad = [
      { email: 'eve@example.com', password: PASSWORD },
      { email: EMAIL, password: 'wrong horse' },
      { email: EMAIL },
    ]
    for (const body of bad) {
      const answer = await askToDelete(session, body)
      assert.deepEqual([answer.status, codeOf(answer)], [400, 'BAD_REQUEST'])
    }
    assert.equal(await countOf('users'), 1)
  })

  it('limits guesses of the password', async () => {
    const session = await ada.signUp()
    const body = { email: EMAIL, password: 'wrong horse' }
    for (let tries = 0; tries < 20; tries++) await askToDelete(session, body)
    assert.equal((await askToDelete(session)).status, 429)
  })

  it('accepts a key with full access, with the password if there is one, and no other key', async () => {
    await ada.key({ scopes: ['account:read', 'account:write'] })
    const refused = await askToDelete(ada, { email: EMAIL })
    assert.equal(codeOf(refused), 'INSUFFICIENT_SCOPE')
    await ada.key()
    assert.equal((await askToDelete(ada, { email: EMAIL })).status, 200)
    await eve.signUp()
    await eve.key()
    const body = { email: eve.email }
    assert.equal((await askToDelete(eve, body)).status, 400)
    assert.equal((await askToDelete(eve, { ...body, password: PASSWORD })).status, 200)
  })

  it('refuses a sign-in that was under way', async () => {
    await signUp(app, EMAIL)
    await addTrigger(app.services, 'INSERT ON sessions', 'DELETE FROM users WHERE id = NEW.user_id')
    const answer = await sendAuth(app, '/sign-in/email', { email: EMAIL, password: PASSWORD })
    assert.equal(answer.status, 401)
  })

  it('gives the origin of the user to the next one who proved it', async () => {
    const [first, second] = [await ada.signUp(), await eve.signUp()]
    for (const session of [first, second]) await addSite(session)
    await write(app, 'UPDATE sites SET is_first = 0, proven_at = 1')
    const adas = "user_id = (SELECT id FROM users WHERE email LIKE 'ada%')"
    await write(app, `UPDATE sites SET proven_at = 100 WHERE ${adas}`)
    await askToDelete(first)
    const { text } = await second.send('GET', '/v1/account/me/audit?action=gain_site')
    assert.match(text, /https:\/\/ada\.example/)
  })
})

async function addSite({ send }: Session): Promise<string> {
  const { status, body } = await send('POST', '/v1/account/me/sites', {
    name: 'https://ada.example',
  })
  assert.equal(status, 201)
  return (body as { id: string }).id // safe: checked against the contract
}

/** Gives the user something of everything. */
async function fill(session: Session) {
  const { body: made } = await session.send('POST', '/v1/account/me/keys', { name: 'of ada' })
  const key = (made as { rawKey: string }).rawKey // safe: checked against the contract
  const siteId = await addSite(session)
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
  await exec(`INSERT INTO site_links (id, user_id, site_id, hash, created_at, expires_at)
    VALUES ('1', '${userId}', '${siteId}', 'hash', 1, 2)`)
  await exec(`INSERT INTO vitals_alerts (site_id, user_id, created_at, day, poor)
    VALUES ('${siteId}', '${userId}', 1, 1, '')`)
  await exec(`INSERT INTO cap_notices (id, channel, user_id, email, threshold, requests, state, created_at, queued_at, due_at, attempts)
    VALUES ('1', 'mail', '${userId}', '${EMAIL}', 'near_cap', 80, 'waiting', 1, 1, 1, 0)`)
  return { userId, siteId }
}

describe('with a remote auth service', () => {
  it('deletes accounts of the command line, and refuses those of the service', async () => {
    await using app = await makeApp({ env: { MERIDIAN_AUTH_URL: 'http://127.0.0.1:9' } })
    const [local, remote] = [app.user('ada'), app.user('eve')]
    for (const person of [local, remote]) await person.key()
    await write(app, "UPDATE users SET remote_id = 'remote' WHERE email = 'eve@example.com'")
    const refused = await askToDelete(remote, { email: remote.email })
    assert.deepEqual([refused.status, codeOf(refused)], [403, 'FORBIDDEN'])
    assert.match(refused.text, /127\.0\.0\.1:9/)
    assert.equal((await askToDelete(local, { email: EMAIL })).status, 200)
  })
})
