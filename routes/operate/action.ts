import {
  type AuditEvent,
  callerEvent,
  insertAudit,
  OPERATOR_LABEL,
} from '../../lib/accounts/audit.ts'
import type { AuditNote } from '../../lib/contract/account/audit-actions.ts'
import { runInTransaction, type Statement } from '../../lib/db/transaction.ts'
import type { Job, JobState } from '../../lib/services/operate/job.ts'
import { isoTime } from '../../pages/dashboard/parts/format.ts'
import type { JobView } from '../../pages/operate/job-status.tsx'
import { formRoutes } from '../dashboard/request/form-routes.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import { toPublicError } from '../request/exchange.ts'

type Forms = Parameters<typeof formRoutes>

/**
 * Routes for the forms of an operator's page. The actions use the database directly, not through the API,
 * so the page must also turn faults of the database into messages.
 */
export function actionRoutes(
  root: Forms[0],
  show: Forms[1],
  actions: Forms[2],
  fields: Forms[3] = {},
) {
  const guarded = Object.entries(actions).map(([name, act]) => {
    const guard: typeof act = async (visit) => {
      try {
        return await act(visit)
      } catch (error) {
        throw toPublicError(visit.services, visit.exchange, error)
      }
    }
    return [name, guard] as const
  })
  return formRoutes(root, show, Object.fromEntries(guarded), fields)
}

/** An operator's action as an event of the audit log, under the operator's id. */
export function operatorEvent({ services, me }: UserVisit, note: AuditNote): AuditEvent {
  const operator = { app: 'dashboard', userId: me.id, label: me.email } as const
  return callerEvent(operator, note, services.now())
}

/** The audit row of an operator's action. */
export function operatorAudit(visit: UserVisit, note: AuditNote): Statement {
  return insertAudit(visit.services.db, operatorEvent(visit, note))
}

/** The user whose account an operator's action changes. */
interface AffectedUser {
  readonly id: string
  /** As the operator's log names the user. */
  readonly name: string
}

/**
 * Two rows: in the operator's log, naming the user, and in the user's own, without the operator's
 * name. Operators who change their own account have only one log.
 */
export function auditForUser(
  visit: UserVisit,
  { id, name }: AffectedUser,
  note: AuditNote,
): Statement[] {
  const { services } = visit
  const detail = note.detail == null ? name : `${name}: ${note.detail}`
  const own = operatorAudit(visit, { targetType: 'user', targetId: id, ...note, detail })
  if (id === visit.me.id) return [own]
  const operator = { app: 'dashboard', userId: id, label: OPERATOR_LABEL } as const
  return [own, insertAudit(services.db, callerEvent(operator, note, services.now()))]
}

/**
 * Starts a run of the job unless one is under way. Writes the audit row first, so that no run starts
 * unrecorded, and so that a run is recorded even if the process ends during it.
 */
export async function startJob<Result, Input>(
  visit: UserVisit,
  job: Pick<Job<Result, Input>, 'state' | 'start'>,
  note: AuditNote,
  input: Input,
): Promise<'started' | 'running'> {
  if (job.state().startedAt !== null) return 'running'
  await runInTransaction(visit.services.db, [operatorAudit(visit, note)])
  return job.start(input)
}

export function toJobView({ startedAt, last }: JobState<unknown>): JobView {
  return {
    startedAt: isoTime(startedAt),
    endedAt: isoTime(last?.endedAt ?? null),
    failure: last !== null && 'reason' in last ? last.reason : null,
  }
}
