import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import type { Plan as PublicPlan } from '../contract/billing/billing-schemas.ts'
import { reasonOf } from '../parts/reason.ts'

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The id of the demo plan, and the one whose price would be set by STRIPE_PRICE_OVERAGE. */
const RESERVED = ['demo', 'overage']

const PlanFile = v.pipe(
  v.array(
    v.strictObject({
      id: v.pipe(
        v.string(),
        v.regex(/^[a-z0-9-]{1,40}$/, 'must be 1 to 40 lower-case letters, digits or hyphens'),
      ),
      name: v.pipe(v.string(), v.nonEmpty()),
      monthlyCap: Count,
      maxKeys: Count,
      maxSites: Count,
      price: v.pipe(v.number(), v.minValue(0)),
      requestsPerMinute: v.pipe(Count, v.minValue(1)),
      /** The currency of `price`. */
      currency: v.exactOptional(
        v.pipe(v.string(), v.regex(/^[a-z]{3}$/, 'must be a code such as usd')),
      ),
      /** How long a user may try the plan before the first payment. */
      trialDays: v.exactOptional(v.pipe(Count, v.minValue(1), v.maxValue(730))),
    }),
  ),
  v.check(
    (plans) => new Set(plans.map(({ id }) => id)).size === plans.length,
    'an id is used twice',
  ),
  v.check(
    (plans) => plans.some(({ id, price }) => id === 'free' && price === 0),
    'the plan "free" with the price 0 is missing',
  ),
  v.check((plans) => {
    const ids = new Set(plans.map(({ id }) => id))
    return plans.every(({ id }) => !ids.has(`${id}-yearly`))
  }, 'an id is another one with "-yearly", so that two prices would have one variable'),
  v.check(
    (plans) => plans.every(({ id }) => !RESERVED.includes(id)),
    `these ids are reserved: ${RESERVED.join(', ')}`,
  ),
)

/** A plan and its limits. */
export type Plan = v.InferOutput<typeof PlanFile>[number]

export type Plans = ReturnType<typeof toPlans>

/**
 * The plan of the demo key, which all visitors of the landing page share. It is not listed and
 * cannot be assigned. Once its cap is reached, the page falls back to submitting its
 * form, and the server looks up the address.
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

/**
 * The plan of the people of the house: the first account of a server, and users whom a command creates. It is
 * neither listed nor sold. A plan with this id in the file replaces it.
 */
const UNLIMITED_PLAN: Plan = {
  id: 'unlimited',
  name: 'Unlimited',
  monthlyCap: 1_000_000_000,
  maxKeys: 1_000,
  maxSites: 1_000,
  price: 0,
  requestsPerMinute: 60_000_000,
}

/** In the tree of the code, wherever the data folder is. */
const DEFAULT = fileURLToPath(new URL('../../data/plans.json', import.meta.url))

/** Reads the plans from `file`, or the default plans. Throws an error that names the file. */
export function readPlans(file: string | undefined): Plans {
  const path = file ?? DEFAULT
  try {
    return toPlans(v.parse(PlanFile, JSON.parse(readFileSync(path, 'utf8'))))
  } catch (cause) {
    const advice =
      file === undefined
        ? 'make it and its folder readable for the user of this process, or name another file in MERIDIAN_PLANS'
        : 'MERIDIAN_PLANS names the file'
    throw new Error(`Cannot read the plans in ${path}: ${reason(cause)}; ${advice}`, { cause })
  }
}

/**
 * Adds plans that the file no longer has. They are neither listed nor sold, but stay in effect for the
 * users who have them.
 */
export function withRemoved(plans: Plans, known: readonly Plan[]): Plans {
  return toPlans(
    plans.list,
    known.filter(({ id }) => plans.assignable.every((plan) => plan.id !== id)),
  )
}

/** Reads a plan that was stored as JSON; null if this version cannot use it. */
export function parsePlan(json: string): Plan | null {
  const result = v.safeParse(PlanFile.item, JSON.parse(json))
  return result.success ? result.output : null
}

function toPlans(rows: readonly Plan[], removed: readonly Plan[] = []) {
  const list = rows.toSorted((a, b) => a.price - b.price)
  const byId = new Map(list.map((plan) => [plan.id, plan]))
  const free = byId.get('free')
  if (free === undefined) throw new Error('the plan "free" is missing')
  const house = byId.get(UNLIMITED_PLAN.id) ?? UNLIMITED_PLAN
  const all = new Map([...removed, ...list, house, DEMO_PLAN].map((plan) => [plan.id, plan]))
  return {
    /** Cheapest first. */
    list,
    /** Plans that the file no longer has, but users may still have. */
    removed,
    free,
    /** The plan of the people of the house. */
    house,
    /** The plans that an operator can give to users. */
    assignable: list.includes(house) ? list : [...list, house],
    find: (id: string) => byId.get(id),
    /** The plan with this id, even if it was removed; the free plan if it is unknown. */
    ofUser: (id: string) => all.get(id) ?? free,
  }
}

function reason(cause: unknown): string {
  if (v.isValiError(cause)) {
    const [issue] = cause.issues
    return `${v.getDotPath(issue) ?? 'the list'}: ${issue.message}`
  }
  return reasonOf(cause)
}

/** The plan as answers show it; `stripePriceId` is null if it is not for sale. */
export function toPublicPlan(plan: Plan, stripePriceId: string | undefined): PublicPlan {
  const { id, name, monthlyCap, maxKeys, maxSites, price } = plan
  return { id, name, monthlyCap, maxKeys, maxSites, price, stripePriceId: stripePriceId ?? null }
}
