import { readAuditPage } from '../lib/accounts/audit-page.ts'
import { ApiError } from '../lib/errors.ts'
import type { Services } from '../lib/services/services.ts'
import type { Handlers } from './context.ts'

export function auditHandlers({ db, log }: Services) {
  return {
    listAuditLog: async ({ caller, query, requestId }) => {
      try {
        const page = await readAuditPage(db, caller.userId, query)
        return { status: 200, body: { ...page, limit: query.limit, offset: query.offset } }
      } catch (cause) {
        log.error({ requestId, err: cause }, 'cannot read the audit log')
        throw new ApiError('SERVICE_UNAVAILABLE', 'Cannot read the audit log now', { cause })
      }
    },
  } satisfies Partial<Handlers>
}
