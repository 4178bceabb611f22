import type Stripe from 'stripe'
import { Text, withOptional } from '../http/params.ts'
import { type Route, route } from '../http/route.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { addRow, getRow } from '../world.ts'

const CreateParams = withOptional({ customer: Text }, { return_url: Text })

export const portalRoutes: readonly Route[] = [
  route('POST /v1/billing_portal/sessions', CreateParams, ({ world, params }) => {
    const id = newId('bps')
    const session = newObject<Stripe.BillingPortal.Session>(world, {
      id,
      object: 'billing_portal.session',
      customer: getRow(world, 'customers', params.customer, 'customer').id,
      return_url: params.return_url ?? null,
      url: `${world.baseUrl}/p/session/${id}`,
    })
    return addRow(world, 'portalSessions', session)
  }),
]
