import { unauthorized } from '../lib/access/authenticate.ts'
import { findUser, toProfile } from '../lib/accounts/users.ts'
import type { Services } from '../lib/services/services.ts'
import type { Handlers } from './context.ts'

export function profileHandlers({ db }: Services) {
  return {
    getProfile: async ({ caller }) => {
      const user = await findUser(db, caller.userId)
      // Removed since the request was let in.
      if (user === null) throw unauthorized()
      return { status: 200, body: toProfile(user) }
    },
  } satisfies Partial<Handlers>
}
