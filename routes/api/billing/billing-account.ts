import {
  createSetupIntent,
  getBillingDetails,
  listInvoices,
  openPortal,
  updateAddress,
} from '../../../lib/billing/account/account.ts'
import { applyPromotion, findDiscount } from '../../../lib/billing/account/discounts.ts'
import { getPaymentMethod, setPaymentMethod } from '../../../lib/billing/account/payment-methods.ts'
import { addTaxId, deleteTaxId, listTaxIds } from '../../../lib/billing/account/tax-ids.ts'
import { APP_PATH } from '../../../lib/contract/pages.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Handlers } from '../../context.ts'
import { toActor } from './actor.ts'

export function billingAccountHandlers({
  billing,
  db,
  baseUrl,
}: Pick<Services, 'baseUrl' | 'billing' | 'db'>) {
  return {
    openPortal: async ({ caller, now }) => {
      const returnUrl = `${baseUrl()}${APP_PATH}/billing`
      const url = await openPortal(billing, toActor(db, caller, now), returnUrl)
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
    getPaymentMethod: async ({ caller }) => {
      return { status: 200, body: await getPaymentMethod(billing, caller.userId) }
    },
    createSetupIntent: async ({ caller, now }) => {
      const clientSecret = await createSetupIntent(billing, toActor(db, caller, now))
      return { status: 200, body: { clientSecret } }
    },
    setPaymentMethod: async ({ caller, body, now }) => {
      await setPaymentMethod(billing, toActor(db, caller, now), body.paymentMethodId)
      return { status: 200, body: { success: true } }
    },
    listTaxIds: async ({ caller }) => {
      return { status: 200, body: await listTaxIds(billing, caller.userId) }
    },
    addTaxId: async ({ caller, body, now }) => {
      return { status: 201, body: await addTaxId(billing, toActor(db, caller, now), body) }
    },
    deleteTaxId: async ({ caller, params, now }) => {
      await deleteTaxId(billing, toActor(db, caller, now), params.id)
      return { status: 200, body: { success: true } }
    },
  } satisfies Partial<Handlers>
}
