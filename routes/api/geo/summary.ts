import { createSummary } from '../../../lib/address-lists/summary.ts'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { TOP_DEFAULT } from '../../../lib/contract/geo/summary.ts'
import { notIncluded } from '../../../lib/geo/answer/shape.ts'
import type { Handlers } from '../../context.ts'
import { locateAll, type Parts } from './locate-all.ts'

export function summaryHandlers(services: Parts) {
  return {
    summarizeAddresses: async (call) => {
      const { body, caller, requestId } = call
      const { add, addInvalid, summarize } = createSummary({
        top: body.top ?? TOP_DEFAULT,
        include: body.include,
      })
      const hasPrivacy = body.include?.includes('privacy') ?? false
      const { degraded } = await locateAll(services, call, {
        located: (json, address, isDegraded) => {
          const result: GeolocationResult = JSON.parse(json)
          const finding = hasPrivacy && !isDegraded ? services.geo.findPrivacy(address) : undefined
          add(
            address.text,
            finding === undefined ? result : { ...result, privacy: finding.privacy },
          )
        },
        invalid: () => addInvalid(),
      })
      const meta = { tier: caller.plan.id, requestId, degraded }
      const head = notIncluded(services.geo, { include: body.include }, { hasHostnames: false })
      return { status: 200, body: { ...summarize(), meta }, ...head }
    },
  } satisfies Partial<Handlers>
}
