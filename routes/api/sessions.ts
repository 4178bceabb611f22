import type { Caller } from '../../lib/access/authenticate.ts'
import {
  DASHBOARD_PREFIX,
  deleteOtherSessions,
  deleteSession,
  listSessions,
  type SessionRow,
} from '../../lib/access/sessions.ts'
import { callerEvent, insertAudit } from '../../lib/accounts/audit.ts'
import type { SessionInfo } from '../../lib/contract/account/sessions.ts'
import type { Statement } from '../../lib/db/transaction.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { refuseRemote } from './account.ts'

/** The caller that ends sessions, and the time. */
interface SessionCall {
  readonly caller: Caller
  readonly now: number
}

export function sessionHandlers(services: Pick<Services, 'config' | 'db'>) {
  const { db } = services
  /** Runs the statement, and records the ended sessions. Returns how many there were. */
  const end = async (statement: Statement, sessionIds: readonly string[], call: SessionCall) => {
    if (sessionIds.length === 0) return 0
    const events = sessionIds.map((targetId) =>
      callerEvent(
        call.caller,
        { action: 'end_session', targetType: 'session', targetId },
        call.now,
      ),
    )
    const rows = events.map((event) => insertAudit(db, event))
    return (await runInTransaction(db, [statement, ...rows])) ? sessionIds.length : 0
  }
  return {
    listSessions: async ({ caller, now }) => {
      refuseRemote(services, seeService)
      const rows = await listSessions(db, caller.userId, now)
      return { status: 200, body: rows.map((row) => toSession(row, caller)) }
    },
    endOtherSessions: async ({ caller, now }) => {
      refuseRemote(services, seeService)
      const { userId, sessionId } = caller
      const live = await listSessions(db, userId, now)
      const others = live.map(({ id }) => id).filter((id) => id !== sessionId)
      const statement = deleteOtherSessions(db, userId, sessionId)
      return { status: 200, body: { ended: await end(statement, others, { caller, now }) } }
    },
    endSession: async ({ caller, now, params: { sessionId } }) => {
      refuseRemote(services, seeService)
      const statement = deleteSession(db, caller.userId, sessionId)
      const ended = await end(statement, [sessionId], { caller, now })
      if (ended === 0) throw new ApiError('NOT_FOUND', 'Session not found')
      return { status: 200, body: { ended } }
    },
  } satisfies Partial<Handlers>
}

const seeService = (authUrl: string) => `Sessions are kept by the auth service: see ${authUrl}`

function toSession(row: SessionRow, caller: Caller): SessionInfo {
  const { id, userAgent, ipAddress, createdAt, updatedAt, expiresAt } = row
  const isDashboard = userAgent?.startsWith(DASHBOARD_PREFIX) ?? false
  const agent = isDashboard ? userAgent?.slice(DASHBOARD_PREFIX.length) : userAgent
  return {
    id,
    isCurrent: id === caller.sessionId,
    app: isDashboard ? 'dashboard' : 'api',
    userAgent: agent || null,
    address: ipAddress || null,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: new Date(updatedAt).toISOString(),
    expiresAt: new Date(expiresAt).toISOString(),
  }
}
