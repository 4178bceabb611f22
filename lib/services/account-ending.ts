import type { KeyRing } from '../access/key-ring.ts'
import type { AuditEvent } from '../accounts/audit.ts'
import { deleteAccount } from '../accounts/delete-account.ts'
import type { Billing } from '../billing/billing.ts'
import type { Overages } from '../billing/overages/overages.ts'
import { endBilling } from '../billing/subscription/end-billing.ts'
import type { Base } from './base.ts'

/** Deletes the account of a user; `event` is its audit entry. Returns false if it is gone already. */
export type EndAccount = (userId: string, event: AuditEvent) => Promise<boolean>

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
