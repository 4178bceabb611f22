import type { Plan } from '../lib/config/plans.ts'
import { count } from './dashboard/parts/format.ts'
import { FactList } from './fact-list.tsx'

interface PlanLimitsProps {
  readonly plan: Pick<Plan, 'monthlyCap' | 'maxKeys' | 'maxSites'>
  /** undefined: not known. */
  readonly requestsPerMinute: number | undefined
}

/** What a plan allows, in its card. */
export function PlanLimits({ plan, requestsPerMinute }: PlanLimitsProps) {
  return (
    <FactList
      facts={[
        ['Requests per month', count(plan.monthlyCap)],
        ['Requests per minute', requestsPerMinute && count(requestsPerMinute)],
        ['Keys', count(plan.maxKeys)],
        ['Sites', count(plan.maxSites)],
      ]}
    />
  )
}
