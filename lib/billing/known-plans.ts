import { type Plan, type Plans, parsePlan, withRemoved } from '../config/plans.ts'
import { knownPlans } from '../db/billing-tables.ts'
import { sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'

/** Adds the plans of earlier starts, so that users of a plan that was removed keep it. */
export async function recallPlans(reads: Queries, plans: Plans): Promise<Plans> {
  const rows = await reads.select({ definition: knownPlans.definition }).from(knownPlans).all()
  const known = rows.map(({ definition }) => parsePlan(definition))
  return withRemoved(
    plans,
    known.filter((plan) => plan !== null),
  )
}

/** Stores the plans of this start, for later starts whose file lacks some of them, and for older releases. */
export async function rememberPlans(db: Db, { assignable }: Plans): Promise<void> {
  await db
    .insert(knownPlans)
    .values(assignable.map(toRow))
    .onConflictDoUpdate({
      target: knownPlans.id,
      set: { definition: sql`excluded.definition` },
    })
    .run()
}

function toRow(plan: Plan): typeof knownPlans.$inferInsert {
  return { id: plan.id, definition: JSON.stringify(plan) }
}
