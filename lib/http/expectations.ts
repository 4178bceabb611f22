import type { RequestListener } from 'node:http'

/**
 * Wraps `listener` so that a request with the header Expect waits until earlier requests of its
 * connection are answered. Otherwise its own answer would be queued, and node:http would put 100
 * Continue between the head and the body of that answer.
 */
export function serveExpectations(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (request.headers.expect === undefined || response.socket !== null) {
      listener(request, response)
      return
    }
    // node:http sends 100 Continue right after this event.
    response.once('socket', () => queueMicrotask(() => listener(request, response)))
  }
}
