import { readRows } from '../support/database/sql.ts'
import type { TestApp } from '../support/helpers.ts'

export interface ActionRow {
  readonly app: string
  readonly actor_label: string
  readonly action: string
  readonly target_id: string | null
  readonly detail: string | null
}

/** The actions in the audit log that only operators take, oldest first. */
export async function actionsOf(
  from: Pick<TestApp, 'services'>,
  actor: string,
): Promise<ActionRow[]> {
  const rows = await readRows<[string, string, string, string | null, string | null]>(
    from,
    `SELECT app, actor_label, action, target_id, detail FROM audit_log
     WHERE actor_label = ? AND action NOT IN ('create_user', 'login', 'set_password') ORDER BY id`,
    actor,
  )
  return rows.map(([app, actor_label, action, target_id, detail]) => {
    return { app, actor_label, action, target_id, detail }
  })
}
