import { getBillingDetails, updateAddress } from '../lib/billing/details.ts'
import { findDiscount } from '../lib/billing/discounts.ts'
import { listInvoices } from '../lib/billing/invoices.ts'
import { openPortal } from '../lib/billing/portal.ts'
import { applyPromotion } from '../lib/billing/promotion.ts'
import { APP_PATH } from '../lib/contract/pages.ts'
import type { Services } from '../lib/services/services.ts'
import { toActor } from './actor.ts'
import type { Handlers } from './context.ts'

export function billingAccountHandlers({ billing, db, baseUrl }: Services) {
  return {
    openPortal: async ({ caller, now }) => {
      const url = await openPortal(billing, toActor(db, caller, now), returnPage(baseUrl()))
      return { status: 200, body: { url } }
    },
    listInvoices: async ({ caller }) => {
      return { status: 200, body: await listInvoices(billing, caller.userId) }
    },
    getBillingDetails: async ({ caller }) => {
      return { status: 200, body: await getBillingDetails(billing, caller.userId) }
    },
    updateAddress: async ({ caller, body, now }) => {
      await updateAddress(billing, toActor(db, caller, now), body)
      return { status: 200, body: { success: true } }
    },
    applyPromo: async ({ caller, body, now }) => {
      const discount = await applyPromotion(billing, toActor(db, caller, now), body.code)
      return { status: 200, body: { applied: true, discount } }
    },
    getDiscount: async ({ caller, now }) => {
      return { status: 200, body: await findDiscount(billing, caller.userId, now) }
    },
  } satisfies Partial<Handlers>
}

/** A page of the dashboard. */
function returnPage(baseUrl: string): string {
  return `${baseUrl}${APP_PATH}/billing`
}
