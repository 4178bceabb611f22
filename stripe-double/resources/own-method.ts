import { badRequest } from '../http/stripe-error.ts'
import { getRow, type World } from '../world.ts'

/** A method that is named must be the customer's. `param` names it in the error. */
export function requireOwnMethod(
  world: World,
  customer: string,
  { id, param }: { id: string | undefined; param: string },
): void {
  if (id === undefined || id === '') return
  const { customer: owner } = getRow(world.state.tables.paymentMethods, id, 'PaymentMethod', param)
  if (owner === customer) return
  throw badRequest(
    `The customer does not have a payment method with the ID ${id}. The payment method must be attached to the customer.`,
    { code: 'resource_missing', param },
  )
}
