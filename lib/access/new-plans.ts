import type { Plans } from '../config/plans.ts'
import type { Queries } from '../db/queries.ts'
import { firstAccount } from '../db/tables.ts'

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
  return (await db.select().from(firstAccount).get()) === undefined ? first : others
}
