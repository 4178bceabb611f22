import type { Limit, SuccessLimit } from '../../lib/contract/operation.ts'

/** How many requests in which time. */
export interface Rate {
  readonly capacity: number
  readonly windowMs: number
}

/** The limits that do not depend on the plan. */
export type Rates = Readonly<Record<Exclude<Limit, 'none' | 'plan'> | SuccessLimit, Rate>>

const WHOSE = {
  account: 'user',
  address: 'IP address',
  beacon: 'IP address',
  contact: 'IP address',
}

/** The limit of an operation in words. */
export function limitText(limit: Limit, rates: Rates): string {
  if (limit === 'none') return 'None'
  if (limit === 'plan') return 'The requests per minute of the plan, for each key'
  return `${rateText(rates[limit])} for each ${WHOSE[limit]}`
}

/** `120 requests per minute`, or `5 requests in 15 minutes`. */
export function rateText({ capacity, windowMs }: Rate): string {
  const minutes = windowMs / 60_000
  const time = TIMES.get(minutes) ?? `in ${minutes} minutes`
  return `${capacity.toLocaleString('en')} requests ${time}`
}

const TIMES: ReadonlyMap<number, string> = new Map([
  [1, 'per minute'],
  [60, 'per hour'],
])
