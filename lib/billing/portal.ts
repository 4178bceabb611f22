import type { Actor } from './actor.ts'
import type { Billing } from './billing.ts'
import { withAccount } from './with-account.ts'

/** Opens the customer portal, which leads back to `returnUrl`. Returns where it is: a secret. */
export function openPortal(billing: Billing, actor: Actor, returnUrl: string): Promise<string> {
  return withAccount(billing, actor.userId, async (calls, customer) => {
    const { url } = await calls.write((stripe, options) =>
      stripe.billingPortal.sessions.create({ customer, return_url: returnUrl }, options),
    )
    const target = { targetType: 'customer', targetId: customer, detail: null }
    await billing.change([actor.audit({ action: 'open_portal', ...target })])
    return url
  })
}
