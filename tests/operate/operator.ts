import assert from 'node:assert/strict'
import { findUserByEmail } from '../../lib/accounts/users.ts'
import { readRows, write } from '../support/database/sql.ts'
import type { TestApp } from '../support/helpers.ts'
import { signInNewUser } from '../support/scene/pages.ts'

export const OPERATOR = 'olga@example.com'
export const PERSON = 'ada@example.com'

/** Signs up an operator. Returns the cookie of the session. */
export async function signInOperator(app: TestApp, email = OPERATOR): Promise<string> {
  const cookie = await signInNewUser(app, email)
  await write(app, "UPDATE users SET role = 'operator' WHERE email = ?", email)
  return cookie
}

export async function idOf({ services }: TestApp, email: string): Promise<string> {
  const user = await findUserByEmail(services.db, email)
  assert.ok(user, email)
  return user.id
}

/** Path of the page about the user. */
export async function personPath(app: TestApp, email = PERSON): Promise<string> {
  return `/app/operate/people/${await idOf(app, email)}`
}

/** The audit rows of an action, oldest first: app, label, target and detail, by whose log they are in. */
export async function auditOf(from: TestApp, action: string) {
  const rows = await readRows(
    from,
    `SELECT coalesce(email, 'gone'), app, actor_label, target_id, detail
     FROM audit_log LEFT JOIN users ON users.id = actor_id WHERE action = ? ORDER BY audit_log.id`,
    action,
  )
  return rows.map(([log, app, label, target, detail]) => ({ log, app, label, target, detail }))
}
