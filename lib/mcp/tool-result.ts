import type { CallToolResult } from '@modelcontextprotocol/server'
import * as v from 'valibot'
import { ApiErrorBody } from '../contract/common.ts'
import type { Operation } from '../contract/operation.ts'
import type { ApiError } from '../parts/errors.ts'
import type { ApiAnswer } from './api-request.ts'

/** Turns an answer of the API into that of a tool: text for assistants, and the same as JSON. */
export function toToolResult(row: Operation, { status, text }: ApiAnswer): CallToolResult {
  const body = parseObject(text)
  const error = v.safeParse(LooseError, body)
  if (error.success) return toolError(error.output.error)
  // A 404 may also be an answer, for an address that no database knows.
  if (body === undefined || row.replies[status] === undefined) {
    const message = `The server answered ${status}, and not as this API does`
    return toolError({ code: 'SERVICE_UNAVAILABLE', message })
  }
  return { content: [{ type: 'text', text }], structuredContent: body }
}

export function toolError(
  error: Pick<ApiError, 'message'> & { readonly code: string },
): CallToolResult {
  const { code, message } = error
  return {
    content: [{ type: 'text', text: `${code}: ${message}` }],
    structuredContent: { error: { code, message } },
    isError: true,
  }
}

/** A newer server may have codes that are not known here. */
const LooseError = v.object({
  error: v.object({ ...ApiErrorBody.entries.error.entries, code: v.string() }),
})

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return v.is(v.record(v.string(), v.unknown()), value) ? value : undefined
  } catch {
    return undefined
  }
}
