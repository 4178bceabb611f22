import { type Caller, unauthorized } from '../../lib/access/authenticate.ts'
import { readAuditPage } from '../../lib/accounts/audit-page.ts'
import { findUser, toProfile } from '../../lib/accounts/users.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'

export function accountHandlers({ db, storage, log }: Pick<Services, 'db' | 'log' | 'storage'>) {
  return {
    getProfile: async ({ caller }) => {
      return { status: 200, body: toProfile(await getUser(db, caller)) }
    },
    listAuditLog: async ({ caller, query, requestId }) => {
      try {
        const page = await readAuditPage(storage.longReads, caller.userId, query)
        return { status: 200, body: { ...page, limit: query.limit, offset: query.offset } }
      } catch (cause) {
        log.error({ requestId, err: cause }, 'cannot read the audit log')
        throw new ApiError('SERVICE_UNAVAILABLE', 'Cannot read the audit log now', { cause })
      }
    },
  } satisfies Partial<Handlers>
}

/** Throws UNAUTHORIZED if the user was removed after the authentication of this request. */
export async function getUser(db: Services['db'], { userId }: Caller) {
  const user = await findUser(db, userId)
  if (user === null) throw unauthorized()
  return user
}

/** Throws FORBIDDEN if a remote auth service signs users in. `advise` says what to do there, at its URL. */
export function refuseRemote(
  { config: { authUrl } }: Pick<Services, 'config'>,
  advise: (authUrl: string) => string,
): void {
  if (authUrl !== undefined) throw new ApiError('FORBIDDEN', advise(authUrl))
}
