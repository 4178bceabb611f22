import type Stripe from 'stripe'
import { Nothing, type Route, route } from '../http/route.ts'
import { changeRow, emit, type World } from '../world.ts'
import { deletedCustomer, getCustomer } from './customers.ts'

export const deleteCustomerRoutes: readonly Route[] = [
  route('DELETE /v1/customers/:id', Nothing, ({ world, id }) => {
    const customer = getCustomer(world, id)
    for (const row of world.state.tables.subscriptions.values()) {
      if (row.customer === id && row.ended_at === null) cancel(world, row)
    }
    for (const row of world.state.tables.invoices.values()) {
      if (row.customer === id) stopCollecting(world, row)
    }
    world.state.tables.customers.delete(id)
    world.state.deletedIds.set(id, 'customer')
    emit(world, 'customer.deleted', customer)
    return deletedCustomer(id)
  }),
]

/** Without a last invoice: there is nobody to send it to. */
function cancel(world: World, row: Stripe.Subscription): void {
  const now = world.now()
  const changes = { status: 'canceled', canceled_at: now, ended_at: now } as const
  const { subscriptions } = world.state.tables
  const ended = changeRow(world, subscriptions, { row, changes }, null)
  emit(world, 'customer.subscription.deleted', ended)
}

function stopCollecting(world: World, row: Stripe.Invoice): void {
  const changes = { automatically_finalizes_at: null, next_payment_attempt: null }
  changeRow(world, world.state.tables.invoices, { row, changes }, null)
}
