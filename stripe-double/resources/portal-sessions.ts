import type Stripe from 'stripe'
import * as v from 'valibot'
import { Text } from '../http/params.ts'
import { type Route, route } from '../http/route.ts'
import { newId } from '../ids.ts'
import { addRow, getRow, type World } from '../world.ts'
import { getCustomer } from './customers.ts'

const CreateParams = v.strictObject({
  customer: Text,
  configuration: v.optional(Text),
  locale: v.optional(Text),
  return_url: v.optional(Text),
})

export const portalRoutes: readonly Route[] = [
  route('POST /v1/billing_portal/sessions', CreateParams, ({ world, params }) => {
    const id = newId('bps')
    const session: Stripe.BillingPortal.Session = {
      id,
      object: 'billing_portal.session',
      configuration: params.configuration ?? newId('bpc'),
      created: world.now(),
      customer: getCustomer(world, params.customer, 'customer').id,
      customer_account: null,
      flow: null,
      livemode: false,
      locale: null,
      on_behalf_of: null,
      return_url: params.return_url ?? null,
      url: `${world.baseUrl}/p/session/${id}`,
    }
    return addRow(world, world.state.tables.portalSessions, session)
  }),
]

export function getPortalSession(world: World, id: string): Stripe.BillingPortal.Session {
  return getRow(world.state.tables.portalSessions, id, 'billing portal session')
}
