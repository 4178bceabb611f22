import { addTaxId, deleteTaxId, listTaxIds } from '../lib/billing/tax-ids.ts'
import type { Services } from '../lib/services/services.ts'
import { toActor } from './actor.ts'
import type { Handlers } from './context.ts'

export function taxIdHandlers({ billing, db }: Services) {
  return {
    listTaxIds: async ({ caller }) => {
      return { status: 200, body: await listTaxIds(billing, caller.userId) }
    },
    addTaxId: async ({ caller, body, now }) => {
      const taxId = await addTaxId(billing, toActor(db, caller, now), body)
      return { status: 201, body: taxId }
    },
    deleteTaxId: async ({ caller, params, now }) => {
      await deleteTaxId(billing, toActor(db, caller, now), params.id)
      return { status: 200, body: { success: true } }
    },
  } satisfies Partial<Handlers>
}
