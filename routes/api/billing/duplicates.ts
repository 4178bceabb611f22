import {
  type DuplicateRow,
  listDuplicates,
} from '../../../lib/billing/subscription/duplicate-rows.ts'
import { endDuplicates } from '../../../lib/billing/subscription/end-duplicates.ts'
import type { DuplicateSubscription } from '../../../lib/contract/billing/billing-schemas.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Handlers } from '../../context.ts'
import { toActor } from './actor.ts'

export function duplicateHandlers({ billing, db }: Pick<Services, 'billing' | 'db'>) {
  return {
    listDuplicates: async ({ caller }) => {
      const rows = await listDuplicates(db, caller.userId)
      return { status: 200, body: rows.map(toDuplicate) }
    },
    endDuplicates: async ({ caller, now }) => {
      const { userId, audit } = toActor(db, caller, now)
      await endDuplicates(billing, { userId, audit: (note) => [audit(note)] })
      return { status: 200, body: { success: true } }
    },
  } satisfies Partial<Handlers>
}

function toDuplicate({ id, plan, status, periodEnd }: DuplicateRow): DuplicateSubscription {
  return { id, planId: plan, status, currentPeriodEnd: new Date(periodEnd).toISOString() }
}
