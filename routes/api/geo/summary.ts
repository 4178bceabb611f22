import { createSummary } from '../../../lib/address-lists/summary.ts'
import type { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { TOP_DEFAULT } from '../../../lib/contract/geo/summary.ts'
import { findMissing } from '../../../lib/geo/answer/shape.ts'
import type { Handlers } from '../../context.ts'
import { locateAll, type Parts } from './locate-all.ts'

const NO_HOSTNAMES = { hasHostnames: false }

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
      const { include } = body
      const { headers, ...lacks } = findMissing(services.geo, { include }, NO_HOSTNAMES) ?? {}
      const meta = { tier: caller.plan.id, requestId, degraded, ...lacks }
      return { status: 200, body: { ...summarize(), meta }, ...(headers && { headers }) }
    },
  } satisfies Partial<Handlers>
}
