import type { Caller } from '../../../lib/access/authenticate.ts'
import {
  addTaxId,
  applyPromotion,
  changeAccount,
  createSetupIntent,
  deleteTaxId,
  findDiscount,
  getPaymentMethod,
  setPaymentMethod,
  withAccount,
} from '../../../lib/billing/account.ts'
import type { StripeGateway } from '../../../lib/billing/stripe/gateway.ts'
import { APP_PATH } from '../../../lib/contract/pages.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Handlers } from '../../context.ts'
import { toActor } from './actor.ts'

type ReadStripe<Body> = (stripe: StripeGateway, customerId: string) => Promise<Body>

export function billingAccountHandlers({
  billing,
  db,
  baseUrl,
}: Pick<Services, 'baseUrl' | 'billing' | 'db'>) {
  const answerFromStripe = async <Body>({ userId }: Caller, read: ReadStripe<Body>) => {
    return { status: 200, body: await withAccount(billing, userId, read) } as const
  }
  return {
    openPortal: async ({ caller, now }) => {
      const actor = toActor(db, caller, now)
      const returnUrl = `${baseUrl()}${APP_PATH}/billing`
      const url = await changeAccount(billing, actor, 'open_portal', (stripe, customer) =>
        stripe.openPortal(customer, returnUrl),
      )
      return { status: 200, body: { url } }
    },
    listInvoices: ({ caller }) =>
      answerFromStripe(caller, (stripe, customer) => stripe.listInvoices(customer)),
    getBillingDetails: ({ caller }) =>
      answerFromStripe(caller, (stripe, customer) => stripe.getBillingDetails(customer)),
    updateAddress: async ({ caller, body, now }) => {
      const actor = toActor(db, caller, now)
      await changeAccount(billing, actor, 'update_address', (stripe, customer) =>
        stripe.updateAddress(customer, body, billing.tax),
      )
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
    listTaxIds: ({ caller }) =>
      answerFromStripe(caller, (stripe, customer) => stripe.listTaxIds(customer)),
    addTaxId: async ({ caller, body, now }) => {
      return { status: 201, body: await addTaxId(billing, toActor(db, caller, now), body) }
    },
    deleteTaxId: async ({ caller, params, now }) => {
      await deleteTaxId(billing, toActor(db, caller, now), params.id)
      return { status: 200, body: { success: true } }
    },
  } satisfies Partial<Handlers>
}
