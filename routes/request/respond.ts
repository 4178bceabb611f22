import type { ApiErrorBody } from '../../lib/contract/common.ts'
import type { ApiError } from '../../lib/errors.ts'
import type { WholeAnswer } from '../../lib/http/write-answer.ts'

export type Headers = Record<string, string>

/** A file is sent while it is made; `json` is null then. */
export type Answer = WholeAnswer & { readonly file?: ReadableStream<Uint8Array> }

/** Characters that are encoded and written in one turn of the event loop. */
const PIECE = 128 * 1024

/** A long text is sent in pieces, so that other requests are answered in between. */
export function toResponse(answer: Answer): Response {
  const { json, file } = answer
  if (file !== undefined) return new Response(file, answer)
  return new Response(json !== null && json.length > PIECE ? inPieces(json) : json, answer)
}

function inPieces(text: string): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let at = 0
  return new ReadableStream({
    pull: async (controller) => {
      await new Promise((resolve) => setImmediate(resolve))
      const end = pieceEnd(text, at + PIECE)
      controller.enqueue(encoder.encode(text.slice(at, end)))
      at = end
      if (at >= text.length) controller.close()
    },
  })
}

/** The end of a piece near `end` that does not separate the two halves of a character. */
function pieceEnd(text: string, end: number): number {
  const isHalf = (text.codePointAt(end - 1) ?? 0) > 0xffff
  return isHalf ? end + 1 : end
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

export function errorJson(error: ApiError, requestId: string): string {
  const body: ApiErrorBody = {
    error: { code: error.code, message: error.message },
    meta: { requestId },
    ...(error.query !== undefined && { query: error.query }),
  }
  return JSON.stringify(body)
}
