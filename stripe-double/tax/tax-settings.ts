import type Stripe from 'stripe'
import { EMPTY_ADDRESS } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import type { World } from '../world.ts'

export const taxSettingsRoutes: readonly Route[] = [
  route('GET /v1/tax/settings', Nothing, ({ world }) => getTaxSettings(world)),
]

/** Like a new account, has no head office and is therefore pending until `activateTax`. */
function getTaxSettings({ state }: World): Stripe.Tax.Settings {
  const isActive = state.taxSettings.has('head_office')
  return {
    object: 'tax.settings',
    defaults: { provider: 'stripe', tax_behavior: 'exclusive', tax_code: null },
    head_office: isActive ? { address: { ...EMPTY_ADDRESS, country: 'DE' } } : null,
    livemode: false,
    ...(isActive
      ? { status: 'active', status_details: { active: {} } }
      : { status: 'pending', status_details: { pending: { missing_fields: ['head_office'] } } }),
  }
}

/** Enters a head office, as the operator does in Stripe's dashboard. */
export function activateTax({ state }: World): void {
  state.taxSettings.set('head_office', true)
}

/** Throws Stripe's 400 if the account cannot calculate tax. */
export function requireTaxActive({ state }: World): void {
  if (state.taxSettings.has('head_office')) return
  throw badRequest(
    'You must have a valid head office address to enable automatic tax calculation in test mode.',
    { code: 'stripe_tax_inactive', param: 'automatic_tax' },
  )
}
