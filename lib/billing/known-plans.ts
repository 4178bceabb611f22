import { type Plan, type Plans, parsePlan, withRemoved } from '../config/plans.ts'
import type { Connection } from '../db/client.ts'
import { sql } from '../db/drizzle.ts'
import type { Db } from '../db/open.ts'
import { knownPlans } from '../db/tables.ts'

/**
 * Adds the plans of earlier starts, so that users of a plan that was removed keep it. Reads in this
 * thread, because the writer thread takes memory that the first start needs for the databases.
 */
export function recallPlans({ $client }: Connection, plans: Plans): Plans {
  const rows = $client.prepare<[], string>('SELECT definition FROM known_plans').pluck().all()
  const known = rows.map(parsePlan)
  return withRemoved(
    plans,
    known.filter((plan) => plan !== null),
  )
}

/** Stores the plans of this start, for later starts whose file lacks some of them. */
export async function rememberPlans(db: Db, { list }: Plans): Promise<void> {
  await db
    .insert(knownPlans)
    .values(list.map(toRow))
    .onConflictDoUpdate({
      target: knownPlans.id,
      set: { definition: sql`excluded.definition` },
    })
    .run()
}

function toRow(plan: Plan): typeof knownPlans.$inferInsert {
  return { id: plan.id, definition: JSON.stringify(plan) }
}
