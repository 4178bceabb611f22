import type { KeyRing } from '../access/key-ring.ts'
import { insertAudit } from '../accounts/audit.ts'
import { type Billing, createBilling } from '../billing/billing.ts'
import type { Base } from './base.ts'

/** `timeLimitMs`: how long an action may wait for the payment processor. */
export function openBilling(
  { config, db, plans, log, now }: Base,
  keys: KeyRing,
  timeLimitMs?: number,
): Billing {
  return createBilling({
    db,
    plans,
    stripe: config.stripe,
    change: keys.change,
    auditTold: (userId, note) =>
      insertAudit(db, { app: 'stripe', actorId: userId, createdAt: now(), ...note }),
    onTrouble: (trouble) => log.error({ ...trouble }, 'trouble with the payment processor'),
    ...(timeLimitMs !== undefined && { timeLimitMs }),
  })
}
