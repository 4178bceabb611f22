import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import type { Plan as PublicPlan } from './contract/billing-schemas.ts'

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

const PlanFile = v.pipe(
  v.array(
    v.strictObject({
      id: v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/, 'must be lower-case letters and digits')),
      name: v.pipe(v.string(), v.nonEmpty()),
      monthlyCap: Count,
      maxKeys: Count,
      maxSites: Count,
      price: v.pipe(v.number(), v.minValue(0)),
      requestsPerMinute: v.pipe(Count, v.minValue(1)),
    }),
  ),
  v.check(
    (plans) => new Set(plans.map(({ id }) => id)).size === plans.length,
    'an id stands twice',
  ),
  v.check(
    (plans) => plans.some(({ id, price }) => id === 'free' && price === 0),
    'the plan "free" with the price 0 is missing',
  ),
  v.check((plans) => plans.every(({ id }) => id !== 'demo'), 'the id "demo" is taken'),
)

/** What a user may do, by plan. */
export type Plan = v.InferOutput<typeof PlanFile>[number]

export interface Plans {
  /** Cheapest first. */
  readonly list: readonly Plan[]
  readonly free: Plan
  find(id: string): Plan | undefined
  /** The plan of a user, who keeps the free one where that was taken out of the file. */
  ofUser(id: string): Plan
}

/**
 * What all visitors of the landing page share who look up by its script. Hidden: it is in no list,
 * and nobody can be given it. A visitor who finds it used up is answered by the page instead.
 */
export const DEMO_PLAN: Plan = {
  id: 'demo',
  name: 'Demo',
  monthlyCap: 100_000,
  maxKeys: 1,
  maxSites: 0,
  price: 0,
  requestsPerMinute: 60,
}

const BUNDLED = new URL('../data/plans.json', import.meta.url)

/** Reads the plans of `file`, or the bundled ones. Throws an error that names the file. */
export function readPlans(file: string | undefined): Plans {
  const path = file ?? BUNDLED
  try {
    return toPlans(v.parse(PlanFile, JSON.parse(readFileSync(path, 'utf8'))))
  } catch (cause) {
    throw new Error(`Cannot read the plans in ${path}: ${reason(cause)}`, { cause })
  }
}

function toPlans(rows: readonly Plan[]): Plans {
  const list = rows.toSorted((a, b) => a.price - b.price)
  const byId = new Map(list.map((plan) => [plan.id, plan]))
  const free = byId.get('free')
  if (free === undefined) throw new Error('the plan "free" is missing')
  return {
    list,
    free,
    find: (id) => byId.get(id),
    ofUser: (id) => (id === DEMO_PLAN.id ? DEMO_PLAN : (byId.get(id) ?? free)),
  }
}

function reason(cause: unknown): string {
  if (v.isValiError(cause)) {
    const [issue] = cause.issues
    return `${v.getDotPath(issue) ?? 'the list'}: ${issue.message}`
  }
  return cause instanceof Error ? cause.message : String(cause)
}

/** The plan as the contract shows it, section 2.7; `stripePriceId` null where it is not for sale. */
export function toPublicPlan(plan: Plan, stripePriceId: string | undefined): PublicPlan {
  const { id, name, monthlyCap, maxKeys, maxSites, price } = plan
  return { id, name, monthlyCap, maxKeys, maxSites, price, stripePriceId: stripePriceId ?? null }
}
