import { batchForm, TextPieces } from '../../../lib/geo/answer/batch-forms.ts'
import { createShape, findMissing } from '../../../lib/geo/answer/shape.ts'
import type { Handlers } from '../../context.ts'
import { withLanguage } from './answer-language.ts'
import { locateAll, type Parts } from './locate-all.ts'

export function batchHandlers(services: Parts) {
  return {
    locateBatch: async (call) => {
      const { body, form, caller, requestId } = call
      const { options, headers } = withLanguage(body, call.acceptLanguage)
      const shapeWhole = createShape(services.geo, options, { degraded: false })
      const shapeDegraded = createShape(services.geo, options, { degraded: true })
      const { located, invalid, start, between, end } = batchForm(form, options)
      const pieces = new TextPieces(between)
      const { degraded } = await locateAll(services, call, {
        located: (json, address, isDegraded) =>
          pieces.add(located(json, address, isDegraded ? shapeDegraded : shapeWhole)),
        invalid: (text) => pieces.add(invalid(text)),
      })
      const missing = findMissing(services.geo, body, { hasHostnames: false })
      const { notIncluded } = missing ?? {}
      const meta = JSON.stringify({ tier: caller.plan.id, requestId, degraded, notIncluded })
      const bytesAfter = pieces.end(end(meta))
      const all = { ...missing?.headers, ...headers }
      return { status: 200, form, text: start, bytesAfter, headers: all }
    },
  } satisfies Partial<Handlers>
}
