import type Stripe from 'stripe'
import { periodEnd } from '../billing/period.ts'
import { Integer, Text, withOptional } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import {
  addRow,
  changeRow,
  deleteRow,
  getRow,
  liveSubscriptions,
  rowsOf,
  type World,
} from '../world.ts'
import { deleteCustomer } from './customers.ts'

type TestClock = Stripe.TestHelpers.TestClock

const CreateParams = withOptional({ frozen_time: Integer }, { name: Text })
const AdvanceParams = withOptional({ frozen_time: Integer }, {})

const PATH = '/v1/test_helpers/test_clocks'
const KEPT_SECONDS = 30 * 86_400
const MONTHLY = { interval: 'month', interval_count: 1 } as const

/** Unlike Stripe's, all test clocks move the one clock of the double, which never goes back. */
export const testClockRoutes: readonly Route[] = [
  route(`POST ${PATH}`, CreateParams, ({ world, params: { frozen_time, name = null } }) => {
    moveTo(world, frozen_time)
    const clock = newObject<TestClock>(world, {
      id: newId('clock'),
      object: 'test_helpers.test_clock',
      deletes_after: frozen_time + KEPT_SECONDS,
      frozen_time,
      name,
      status: 'ready',
      status_details: {},
    })
    return addRow(world, 'testClocks', clock, 'test_helpers.test_clock.created')
  }),
  route(`GET ${PATH}/:id`, Nothing, ({ world, id }) => getRow(world, 'testClocks', id)),
  route(`POST ${PATH}/:id/advance`, AdvanceParams, ({ world, params: { frozen_time }, id }) => {
    requireNear(world, getRow(world, 'testClocks', id), frozen_time)
    moveTo(world, frozen_time)
    const clock = changeRow(world, getRow(world, 'testClocks', id), { frozen_time })
    return {
      ...clock,
      status: 'advancing',
      status_details: { advancing: { target_frozen_time: frozen_time } },
    }
  }),
  route(`DELETE ${PATH}/:id`, Nothing, ({ world, id }) => {
    const clock = getRow(world, 'testClocks', id)
    for (const customer of customersOf(world, clock)) deleteCustomer(world, customer)
    return deleteRow(world, clock, 'test_helpers.test_clock.deleted')
  }),
]

function moveTo(world: World, time: number): void {
  if (time < world.now()) throw badRequest('The clock of the double cannot go back.')
  world.advance(time - world.now())
}

/** Like Stripe, advances at most two intervals of the shortest subscription. */
function requireNear(world: World, clock: TestClock, time: number): void {
  const ends = customersOf(world, clock)
    .flatMap(({ id }) => liveSubscriptions(world, id))
    .flatMap(({ items }) => items.data)
    .map(({ price: { recurring } }) => {
      const end = periodEnd(clock.frozen_time, clock.frozen_time, recurring ?? MONTHLY)
      return periodEnd(clock.frozen_time, end, recurring ?? MONTHLY)
    })
  if (time > clock.frozen_time && time <= Math.min(...ends)) return
  throw badRequest('A test clock advances by at most two intervals of its shortest subscription.', {
    param: 'frozen_time',
  })
}

function customersOf(world: World, { id }: TestClock): Stripe.Customer[] {
  return rowsOf(world, 'customers').filter(({ test_clock }) => test_clock === id)
}
