import type { Caller } from '../../../lib/access/authenticate.ts'
import { callerEvent, insertAudit } from '../../../lib/accounts/audit.ts'
import type { Actor } from '../../../lib/billing/billing.ts'
import type { Services } from '../../../lib/services/services.ts'

/** The caller of a request, as the actor of a change to billing. */
export function toActor(db: Services['db'], caller: Caller, now: number): Actor {
  return {
    userId: caller.userId,
    now,
    audit: (note) => insertAudit(db, callerEvent(caller, note, now)),
  }
}
