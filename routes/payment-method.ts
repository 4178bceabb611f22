import {
  createSetupIntent,
  getPaymentMethod,
  setPaymentMethod,
} from '../lib/billing/payment-methods.ts'
import type { Services } from '../lib/services/services.ts'
import { toActor } from './actor.ts'
import type { Handlers } from './context.ts'

export function paymentMethodHandlers({ billing, db }: Services) {
  return {
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
  } satisfies Partial<Handlers>
}
