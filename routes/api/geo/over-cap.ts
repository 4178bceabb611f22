import { ApiError } from '../../../lib/parts/errors.ts'

/** For look-ups that have no degraded answer. */
export function refuseOverCap({ degraded }: { readonly degraded: boolean }): void {
  if (degraded) throw new ApiError('PLAN_CAP_EXCEEDED', 'The monthly cap of the plan is used up')
}
