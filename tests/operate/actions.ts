import type { TestApp } from '../support/helpers.ts'

export interface ActionRow {
  readonly app: string
  readonly actor_label: string
  readonly action: string
  readonly target_id: string | null
  readonly detail: string | null
}

/** The actions in the audit log that only operators take, oldest first. */
export function actionsOf({ services }: Pick<TestApp, 'services'>, actor: string): ActionRow[] {
  return services.db.$client
    .prepare<[string], ActionRow>(
      `SELECT app, actor_label, action, target_id, detail FROM audit_log
        WHERE actor_label = ? AND action NOT IN ('create_user', 'login', 'set_password') ORDER BY id`,
    )
    .all(actor)
}
