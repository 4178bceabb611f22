import { batchForm, TextPieces } from '../../lib/geo/answer/batch-forms.ts'
import { createShape, notIncluded } from '../../lib/geo/answer/shape.ts'
import type { Handlers } from '../context.ts'
import { locateAll, type Parts } from './locate-all.ts'

export function batchHandlers(services: Parts) {
  return {
    locateBatch: async (call) => {
      const { body, form, caller, requestId } = call
      const shapeWhole = createShape(services.geo, body, { degraded: false })
      const shapeDegraded = createShape(services.geo, body, { degraded: true })
      const { located, invalid, start, between, end } = batchForm(form, body)
      const pieces = new TextPieces(between)
      const { degraded } = await locateAll(services, call, {
        located: (json, address, isDegraded) =>
          pieces.add(located(json, address, isDegraded ? shapeDegraded : shapeWhole)),
        invalid: (text) => pieces.add(invalid(text)),
      })
      const meta = `{"tier":"${caller.plan.id}","requestId":"${requestId}","degraded":${degraded}}`
      const included = notIncluded(services.geo, body, { hasHostnames: false })
      return { status: 200, form, text: start, bytesAfter: pieces.end(end(meta)), ...included }
    },
  } satisfies Partial<Handlers>
}
