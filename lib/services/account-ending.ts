import type { KeyRing } from '../access/key-ring.ts'
import { type AskedEnding, listAskedEndings, refuseEnding } from '../accounts/asked-endings.ts'
import type { AuditEvent } from '../accounts/audit.ts'
import { deleteAccount } from '../accounts/delete-account.ts'
import type { Billing } from '../billing/billing.ts'
import type { Overages } from '../billing/overages/overages.ts'
import { endBilling } from '../billing/subscription/end-billing.ts'
import { SECOND_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'
import { repeat } from '../periodic.ts'
import type { Base } from './base.ts'

/** Deletes the account of a user; `event` is its audit entry. Returns false if it is gone already. */
export type EndAccount = (userId: string, event: AuditEvent) => Promise<boolean>

const POLL_MS = SECOND_MS

interface Joined extends Pick<Base, 'db' | 'baseUrl'> {
  readonly keys: Pick<KeyRing, 'changeBy'>
  readonly billing: Billing
  readonly overages: Pick<Overages, 'reportAll'>
}

/**
 * Ends the subscriptions first. After a kill in between, the account has none, and its owner can
 * delete it again.
 */
export function createEndAccount(joined: Joined): EndAccount {
  const { db, baseUrl, keys, billing, overages } = joined
  return (userId, event) =>
    endBilling(billing, userId, {
      reportOverages: () => overages.reportAll(userId),
      removeUser: () =>
        keys.changeBy(() => deleteAccount(db, userId, { event, baseUrl: baseUrl() })),
    })
}

/** Deletes the accounts that commands ask for, in turn with everything else that the server does. */
export function openAskedEndings(
  { db, log, now, ...base }: Base,
  joined: Omit<Joined, 'db' | 'baseUrl'>,
  opening: AsyncDisposableStack,
): void {
  const endAccount = createEndAccount({ db, ...base, ...joined })
  const end = async ({ userId, command: actorLabel }: AskedEnding) => {
    const event = { app: 'cli', actorId: userId, actorLabel, action: 'delete_account' } as const
    try {
      await endAccount(userId, { ...event, createdAt: now() })
    } catch (error) {
      if (!(error instanceof ApiError)) log.error({ err: error, userId }, FAILED)
      await refuseEnding(db, userId, error instanceof ApiError ? error.message : 'see its log')
    }
  }
  const endAll = async () => {
    for (const asked of await listAskedEndings(db)) await end(asked)
  }
  opening.use(repeat(POLL_MS, endAll, (error) => log.error({ err: error }, FAILED)))
}

const FAILED = 'cannot delete an account that a command asks to delete'
