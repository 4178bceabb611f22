import assert from 'node:assert/strict'
import { readRows } from '../support/database/sql.ts'
import type { TestApp } from '../support/helpers.ts'
import type { Person } from '../support/scene/person.ts'

export const OPERATOR = 'olga@example.com'
export const PERSON = 'ada@example.com'

/** Path of the page about the person. */
export async function personPath(person: Person): Promise<string> {
  return `/app/operate/people/${(await person.row()).id}`
}

/** The audit rows of an action, oldest first: app, label, target and detail, by whose log they are in. */
export async function auditOf(from: TestApp, action: string) {
  const sql = `SELECT coalesce(email, 'gone'), app, actor_label, target_id, detail
    FROM audit_log LEFT JOIN users ON users.id = actor_id WHERE action = ? ORDER BY audit_log.id`
  const rows = await readRows(from, sql, action)
  return rows.map(([log, app, label, target, detail]) => ({ log, app, label, target, detail }))
}

/** The link to the next page of a list. */
export function nextOf(html: string): string | undefined {
  return /href="([^"]*)">\s*Next/.exec(html)?.[1]?.replaceAll('&amp;', '&')
}

/** The HTML of all pages of a list, from this one on. */
export async function pagesFrom(path: string, reader: Person): Promise<string[]> {
  const { status, html } = await reader.visit(path)
  assert.equal(status, 200)
  const next = nextOf(html)
  return [html, ...(next === undefined ? [] : await pagesFrom(next, reader))]
}

/** What the operator has done that only operators do, by the audit log, oldest first. */
export async function actionsOf(from: Pick<TestApp, 'services'>) {
  const sql = `SELECT app, action, target_id, detail FROM audit_log
    WHERE actor_label = ? AND action NOT IN ('create_user', 'login', 'set_password') ORDER BY id`
  const rows = await readRows<[string, string, string | null, string | null]>(from, sql, OPERATOR)
  return rows.map(([app, action, target, detail]) => ({ app, action, target, detail }))
}
