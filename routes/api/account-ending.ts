import { unauthorized } from '../../lib/access/authenticate.ts'
import { callerEvent, insertAudit } from '../../lib/accounts/audit.ts'
import { exportAccount } from '../../lib/accounts/export/export-account.ts'
import { normaliseEmail } from '../../lib/parts/email-address.ts'
import { fieldError } from '../../lib/parts/errors.ts'
import { createDeleteAccount, type DeletionParts } from '../../lib/services/delete-account.ts'
import type { Services } from '../../lib/services/services.ts'
import { readUsesAfterSums } from '../../lib/usage/past-days.ts'
import type { Handlers } from '../context.ts'
import { getUser, refuseRemote } from './account.ts'
import { confirmOwner, type OwnerParts } from './confirm-owner.ts'

type Parts = DeletionParts & OwnerParts & Pick<Services, 'config' | 'ledger' | 'log' | 'storage'>

export function accountEndingHandlers(services: Parts) {
  const { db, storage, ledger, log } = services
  const deleteAccount = createDeleteAccount(services)
  return {
    exportAccount: async ({ caller, now, requestId, isHead }) => {
      await getUser(db, caller)
      const day = new Date(now).toISOString().slice(0, 10)
      const name = `meridian-${day}.tar.gz`
      if (isHead) return { status: 200, file: new Blob([]).stream(), name }
      await ledger.flush()
      const { userId } = caller
      const lastUses = await readUsesAfterSums(storage.longReads, userId)
      const onError = (err: unknown) => log.error({ requestId, err }, 'an export broke off')
      const file = await exportAccount(storage.longReads, { userId, now, lastUses, onError })
      await insertAudit(db, callerEvent(caller, { action: 'export_account' }, now)).run()
      return { status: 200, file, name }
    },
    deleteAccount: async ({ caller, body, now }) => {
      const user = await getUser(db, caller)
      // The next sign-in at the auth service would create the account again.
      if (user.remoteId !== null) refuseRemote(services, deleteThere)
      if (normaliseEmail(body.email) !== user.email) {
        throw fieldError('email', 'is not the address of this account')
      }
      await confirmOwner(services, { caller, now }, user.email, body)
      // The entry outlives the account, so it does not name the person.
      const nameless = { ...caller, label: null }
      const event = callerEvent(nameless, { action: 'delete_account' }, now)
      if (!(await deleteAccount(user.id, event))) throw unauthorized()
      return { status: 200, body: { deleted: true } }
    },
  } satisfies Partial<Handlers>
}

const deleteThere = (authUrl: string) =>
  `This account is kept at ${authUrl}: delete it there, then ask the administrator to delete its data here`
