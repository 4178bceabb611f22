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
  const rows = await readRows(
    from,
    `SELECT coalesce(email, 'gone'), app, actor_label, target_id, detail
     FROM audit_log LEFT JOIN users ON users.id = actor_id WHERE action = ? ORDER BY audit_log.id`,
    action,
  )
  return rows.map(([log, app, label, target, detail]) => ({ log, app, label, target, detail }))
}

/** The link to the next page of a list. */
export function nextOf(html: string): string | undefined {
  return /href="([^"]*)">\s*Next/.exec(html)?.[1]?.replaceAll('&amp;', '&')
}
