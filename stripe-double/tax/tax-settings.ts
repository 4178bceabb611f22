import type Stripe from 'stripe'
import * as v from 'valibot'
import { Address, EMPTY_ADDRESS, optional, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import type { World } from '../world.ts'

type Settings = Stripe.Tax.Settings
type Office = Stripe.Tax.Settings.HeadOffice

const UpdateParams = optional({
  defaults: optional({
    tax_behavior: v.picklist(['exclusive', 'inclusive', 'inferred_by_currency']),
    tax_code: Text,
  }),
  head_office: v.strictObject({ address: Address }),
})

export const taxSettingsRoutes: readonly Route[] = [
  route('GET /v1/tax/settings', Nothing, ({ world }) => getTaxSettings(world)),
  route('POST /v1/tax/settings', UpdateParams, ({ world, params }) =>
    changeTaxSettings(world, params),
  ),
]

/** Like a new account, has no head office and is therefore pending until one is set. */
export function getTaxSettings(world: World): Settings {
  return world.state.taxSettings.get('') ?? NEW_ACCOUNT
}

export function changeTaxSettings(
  world: World,
  { defaults = {}, head_office }: v.InferOutput<typeof UpdateParams>,
): Settings {
  const before = getTaxSettings(world)
  const office = head_office === undefined ? before.head_office : toOffice(head_office.address)
  const isActive = office !== null
  const after: Settings = {
    ...before,
    defaults: {
      ...before.defaults,
      tax_behavior: defaults.tax_behavior ?? before.defaults.tax_behavior,
      tax_code: defaults.tax_code ?? before.defaults.tax_code,
    },
    head_office: office,
    status: isActive ? 'active' : 'pending',
    status_details: isActive ? { active: {} } : NEW_ACCOUNT.status_details,
  }
  world.state.taxSettings.set('', after)
  return after
}

/** Throws Stripe's 400 if the account cannot calculate tax. */
export function requireTaxActive(world: World): void {
  if (getTaxSettings(world).status === 'active') return
  throw badRequest(
    'You must have a valid head office address to enable automatic tax calculation in test mode.',
    { code: 'stripe_tax_inactive', param: 'automatic_tax' },
  )
}

const NEW_ACCOUNT: Settings = {
  object: 'tax.settings',
  defaults: { provider: 'stripe', tax_behavior: 'exclusive', tax_code: null },
  head_office: null,
  livemode: false,
  status: 'pending',
  status_details: { pending: { missing_fields: ['head_office'] } },
}

function toOffice(address: v.InferOutput<typeof Address>): Office {
  const given = Object.entries(address).filter(([, text]) => text !== undefined)
  return { address: { ...EMPTY_ADDRESS, ...Object.fromEntries(given) } }
}
