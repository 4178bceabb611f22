import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { WholeAnswer } from './write-answer.ts'

/** Answers a request, or leaves it: null. */
type Straight = (request: IncomingMessage) => WholeAnswer | Promise<WholeAnswer> | null

/**
 * Writes what `straight` answers, and leaves to `otherwise` what it does not. What it throws is a
 * bug: `onError` is told, and the connection closed.
 */
export function createListener(
  straight: Straight,
  otherwise: RequestListener,
  onError: (error: unknown) => void,
): RequestListener {
  return async (request, response) => {
    try {
      const answer = straight(request)
      if (answer === null) otherwise(request, response)
      else send(response, answer instanceof Promise ? await answer : answer)
    } catch (error) {
      onError(error)
      response.destroy()
    }
  }
}

function send(response: ServerResponse, { status, headers, json }: WholeAnswer): void {
  if (json === null) {
    response.writeHead(status, headers).end()
    return
  }
  const length = Buffer.byteLength(json)
  response.writeHead(status, { ...headers, 'content-length': length })
  // A text as long as its bytes is ASCII: it needs no encoding.
  response.end(json, length === json.length ? 'latin1' : 'utf8')
}
