import type { ApiErrorBody } from '../../lib/contract/common.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { DOCS_PATH } from '../../lib/contract/pages.ts'
import type { WholeAnswer } from '../../lib/http/write-answer.ts'
import type { ApiError } from '../../lib/parts/errors.ts'

export type Headers = Record<string, string>

export interface Answer extends WholeAnswer {
  /** The bytes of the text after `json`. */
  readonly bytesAfter?: readonly Uint8Array[] | undefined
  /** Sent while it is made; `json` is null then. */
  readonly file?: ReadableStream<Uint8Array>
}

/** Bytes that are written in one turn of the event loop. */
const PIECE = 128 * 1024
const encoder = new TextEncoder()

/** A long text is sent in pieces, so that other requests are answered in between. */
export function toResponse(answer: Answer): Response {
  const { json, bytesAfter, file } = answer
  if (file !== undefined) return new Response(file, answer)
  if (bytesAfter === undefined && (json === null || json.length <= PIECE)) {
    return new Response(json, answer)
  }
  const parts = [encoder.encode(json ?? ''), ...(bytesAfter ?? [])]
  const length = parts.reduce((sum, bytes) => sum + bytes.length, 0)
  return new Response(length > PIECE ? inPieces(parts) : Buffer.concat(parts), answer)
}

function inPieces(parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const pieces = split(parts)
  return new ReadableStream({
    pull: async (controller) => {
      await new Promise((resolve) => setImmediate(resolve))
      const { value, done } = pieces.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
  })
}

function* split(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  for (const bytes of parts) {
    for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
  }
}

/** The headers of every answer of the API. */
export function baseHeaders(requestId: string): Headers {
  return {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  }
}

interface ErrorPlace {
  readonly requestId: string
  readonly row: Pick<Operation, 'id'> | undefined
}

/** `baseUrl` is that of the service. The page about the operation says what it takes, and which errors it has. */
export function errorJson(
  error: ApiError,
  { requestId, row }: ErrorPlace,
  baseUrl: string,
): string {
  const { code, message, field, query } = error
  const page = row === undefined ? 'guides/errors' : `operations/${row.id}`
  const documentation = `${baseUrl}${DOCS_PATH}/${page}`
  const body: ApiErrorBody = {
    error: { code, message, ...(field !== undefined && { field }), documentation },
    meta: { requestId },
    ...(query !== undefined && { query }),
  }
  return JSON.stringify(body)
}
