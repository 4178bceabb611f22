import { type AuditEvent, insertAudit } from '../../lib/accounts/audit.ts'
import type { SqliteDb } from '../../lib/db/open.ts'
import { createRandom, pick, type Random } from '../../scripts/parts/random.ts'

const ACTIONS = ['create_key', 'revoke_key', 'renew_key', 'create_site', 'delete_site', 'login']

/** Adds `count` entries to the audit log, each of the actor that `drawActor` returns for its number. */
export function fillAudit(
  db: SqliteDb,
  count: number,
  drawActor: (n: number, random: Random) => string,
): void {
  const random = createRandom(1)
  db.$client.transaction(() => {
    for (let n = 0; n < count; n++) {
      const { sql, params } = insertAudit(db, makeEvent(n, drawActor(n, random), random)).toSQL()
      db.$client.prepare(sql).run(...params)
    }
  })()
}

function makeEvent(n: number, actorId: string, random: Random): AuditEvent {
  const action = pick(random, ACTIONS)
  return {
    app: 'api',
    actorId,
    actorLabel: 'ada@example.com',
    action,
    createdAt: n,
    ...(action !== 'login' && {
      targetType: action.endsWith('site') ? 'site' : 'api_key',
      targetId: crypto.randomUUID(),
      detail: `https://shop-${n}.example.com`,
    }),
  }
}
