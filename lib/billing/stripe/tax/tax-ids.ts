import type Stripe from 'stripe'
import type { TaxIdBody } from '../../../contract/billing/billing-account-bodies.ts'
import type { TaxId } from '../../../contract/billing/billing-schemas.ts'
import type { StripeCalls } from '../stripe-calls.ts'
import { ifInvalid, ifMissing } from '../stripe-refusal.ts'

/** More than a customer needs: an invoice shows only five. */
const MAX_TAX_IDS = 100

export function taxIdCalls({ read, write }: StripeCalls) {
  return {
    listTaxIds: async (customerId: string): Promise<TaxId[]> => {
      const { data } = await read((sdk, options) =>
        sdk.customers.listTaxIds(customerId, { limit: MAX_TAX_IDS }, options),
      )
      return data.map(toTaxId)
    },

    addTaxId: async (customerId: string, { type, value }: TaxIdBody): Promise<TaxId> => {
      const added = await write((sdk, options) =>
        sdk.customers.createTaxId(customerId, { type, value }, options),
      ).catch(ifInvalid('The tax id is not valid'))
      return toTaxId(added)
    },

    /** Does nothing if it is gone: an attempt that was not answered may have deleted it. */
    deleteTaxId: async (customerId: string, id: string): Promise<void> => {
      await write((sdk, options) => sdk.customers.deleteTaxId(customerId, id, {}, options)).catch(
        ifMissing(null),
      )
    },
  }
}

function toTaxId({ id, type, value, verification }: Stripe.TaxId): TaxId {
  return { id, type, value, status: verification?.status ?? null }
}
