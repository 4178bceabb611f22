import { DEMO_PLAN, type Plans } from '../config/plans.ts'
import { gte } from '../db/drizzle.ts'
import type { Queries } from '../db/queries.ts'
import { users } from '../db/tables.ts'

/** The ids of the plans of new users. */
export type NewPlans = ReturnType<typeof toNewPlans>

export function toNewPlans({ house, free }: Plans) {
  return {
    /** Of the first account of a server: that of the people of the house. */
    first: house.id,
    others: free.id,
  }
}

/** The plan of somebody who signs up now. */
export async function planOfNew(db: Queries, { first, others }: NewPlans): Promise<string> {
  // One of any two is a person: the other may be the user of the landing page. `id >= ''` lets an index find them.
  const isAny = gte(users.id, '')
  const some = await db.select({ plan: users.plan }).from(users).where(isAny).limit(2).all()
  return some.every(({ plan }) => plan === DEMO_PLAN.id) ? first : others
}
