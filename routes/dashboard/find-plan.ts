import type { Plan } from '../../lib/contract/billing-schemas.ts'
import { refusalOf } from './ask.ts'
import type { UserVisit } from './visit.ts'

/** The plan in effect; null: it cannot be told now, and the page goes on without it. */
export async function findPlan({ ask }: UserVisit): Promise<Plan | null> {
  try {
    return (await ask('getSubscription')).plan
  } catch (error) {
    refusalOf(error)
    return null
  }
}
