import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Wraps `listener` so that it can serve HTTP/1.0. Such a request needs no Host: health checks of load
 * balancers omit it. If it has Transfer-Encoding, it is the last request of its connection, because its
 * end is ambiguous: RFC 9112 section 6.1. A request with Upgrade is also the last: node:http drops the rest.
 */
export function serveHttp10(listener: RequestListener): RequestListener {
  const ending = new WeakSet<Socket>()
  return (request, response) => {
    if (ending.has(request.socket)) return
    const { headers, httpVersion, socket } = request
    if (httpVersion === '1.0') headers.host ??= 'localhost'
    const isUnbounded = httpVersion !== '1.1' && headers['transfer-encoding'] !== undefined
    if (isUnbounded || headers.upgrade !== undefined) {
      ending.add(socket)
      response.shouldKeepAlive = false
    }
    listener(request, response)
  }
}
