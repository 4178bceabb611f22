import type { KeyRing } from '../access/key-ring/key-ring.ts'
import type { AuditEvent } from '../accounts/audit.ts'
import { deleteAccountRows } from '../accounts/delete-account-rows.ts'
import {
  type DeletionRequest,
  listDeletionRequests,
  refuseDeletion,
} from '../accounts/deletion-requests.ts'
import type { Billing } from '../billing/billing.ts'
import type { Overages } from '../billing/overages/overages.ts'
import { endBilling } from '../billing/subscription/end-billing.ts'
import { SECOND_MS } from '../parts/durations.ts'
import { ApiError } from '../parts/errors.ts'
import { repeat } from '../parts/repeat.ts'
import type { Foundation } from './foundation.ts'

/** Deletes the account of a user; `event` is its audit entry. Returns false if it is gone already. */
export type DeleteAccount = (userId: string, event: AuditEvent) => Promise<boolean>

const POLL_MS = SECOND_MS

/** What it takes to delete accounts. */
export interface DeletionParts extends Pick<Foundation, 'db' | 'baseUrl'> {
  readonly keys: Pick<KeyRing, 'changeBy'>
  readonly billing: Billing
  readonly overages: Pick<Overages, 'reportAll'>
}

/**
 * Returns a function that ends the subscriptions first, and then deletes the rows. If the process is
 * killed in between, the account remains without a subscription, and its owner can delete it again.
 */
export function createDeleteAccount(services: DeletionParts): DeleteAccount {
  const { db, baseUrl, keys, billing, overages } = services
  return (userId, event) =>
    endBilling(billing, userId, {
      now: event.createdAt,
      reportOverages: () => overages.reportAll(userId),
      removeUser: () =>
        keys.changeBy(() => deleteAccountRows(db, userId, { event, baseUrl: baseUrl() })),
    })
}

/** Regularly carries out the deletions that commands have requested, one after the other. */
export function openDeletionRequests(
  { storage, db, log, now, ...foundation }: Foundation,
  services: Omit<DeletionParts, 'db' | 'baseUrl'>,
  opening: AsyncDisposableStack,
): void {
  const deleteAccount = createDeleteAccount({ db, ...foundation, ...services })
  const carryOut = async ({ userId, command: actorLabel }: DeletionRequest) => {
    const event = { app: 'cli', actorId: userId, actorLabel, action: 'delete_account' } as const
    try {
      await deleteAccount(userId, { ...event, createdAt: now() })
    } catch (error) {
      if (!(error instanceof ApiError)) log.error({ err: error, userId }, FAILED)
      await refuseDeletion(db, userId, error instanceof ApiError ? error.message : 'see its log')
    }
  }
  const carryOutAll = async (signal: AbortSignal) => {
    for (const request of await listDeletionRequests(db)) {
      if (!signal.aborted) await carryOut(request)
    }
  }
  const poll = async () => {
    if ((await listDeletionRequests(db)).length === 0) return
    await storage.leases.runAlone('account deletions', carryOutAll)
  }
  opening.use(repeat(POLL_MS, poll, (error) => log.error({ err: error }, FAILED)))
}

const FAILED = 'cannot delete an account that a command asks to delete'
