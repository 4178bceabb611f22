import { batchForm } from '../../lib/geo/answer/batch-forms.ts'
import { createShape, notIncluded } from '../../lib/geo/answer/shape.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { locateAll } from './locate-all.ts'

export function batchHandlers(services: Services) {
  return {
    locateBatch: async (call) => {
      const { body, form, caller, requestId } = call
      const shapeWhole = createShape(services.geo, body, { degraded: false })
      const shapeReduced = createShape(services.geo, body, { degraded: true })
      const { located, invalid, whole } = batchForm(form, body)
      const { results, degraded } = await locateAll(services, call, {
        located: (json, address, isReduced) =>
          located(json, address, isReduced ? shapeReduced : shapeWhole),
        invalid,
      })
      const meta = `{"tier":"${caller.plan.id}","requestId":"${requestId}","degraded":${degraded}}`
      const text = whole(results, meta)
      const head = {
        status: 200,
        ...notIncluded(services.geo, body, { hasHostnames: false }),
      } as const
      return form === 'application/json' ? { ...head, json: text } : { ...head, form, text }
    },
  } satisfies Partial<Handlers>
}
