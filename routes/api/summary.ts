import { TOP_DEFAULT } from '../../lib/contract/geo/summary.ts'
import { createSummary } from '../../lib/geo/answer/summary.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { locateAll } from './locate-all.ts'

export function summaryHandlers(services: Services) {
  return {
    summarizeAddresses: async (call) => {
      const { body, caller, requestId } = call
      const { add, addInvalid, summarize } = createSummary(body.top ?? TOP_DEFAULT)
      const { degraded } = await locateAll(services, call, {
        located: (json, address) => add(address.text, JSON.parse(json)),
        invalid: () => addInvalid(),
      })
      const meta = { tier: caller.plan.id, requestId, degraded }
      return { status: 200, body: { ...summarize(), meta } }
    },
  } satisfies Partial<Handlers>
}
