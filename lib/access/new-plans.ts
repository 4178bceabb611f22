import { DEMO_PLAN, type Plans } from '../config/plans.ts'
import { ne } from '../db/drizzle.ts'
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
  const isPerson = ne(users.plan, DEMO_PLAN.id)
  const known = await db.select({ id: users.id }).from(users).where(isPerson).limit(1).get()
  return known === undefined ? first : others
}
