import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createPerConnection } from './per-connection.ts'
import type { AnswerWhole, WholeRequest } from './whole-request.ts'
import { encodingOf, type WholeAnswer } from './write-answer.ts'

/** Set while node:http reads a request that `answer` could not answer: it is not asked again. */
export const failed = createPerConnection<true>()

/**
 * Wraps `listener` so that `answer` is asked first about each request without a body that node:http has parsed.
 * On the way through `listener`, such a request takes several times as long.
 */
export function answerParsed(
  { answer, onError }: Pick<AnswerWhole, 'answer' | 'onError'>,
  listener: RequestListener,
): RequestListener {
  const tryAnswer = (request: WholeRequest) => {
    try {
      return answer(request)
    } catch (error) {
      onError(error)
      return null
    }
  }
  return (request, response) => {
    const { socket } = request
    const hasFailed = failed.get(socket) === true
    if (hasFailed) failed.set(socket, undefined)
    const whole = hasFailed ? null : toWhole(request)
    const answered = whole === null ? null : tryAnswer(whole)
    // Only the answer to a request with a body may come later.
    if (answered === null || answered instanceof Promise) listener(request, response)
    else send(response, answered)
  }
}

/** Returns null for a request that may have a body, or that has a header twice or another version than HTTP/1. */
function toWhole(request: IncomingMessage): WholeRequest | null {
  const { method, url, headers, rawHeaders, httpVersionMajor, socket } = request
  if (method !== 'GET' && method !== 'HEAD') return null
  if (url === undefined || httpVersionMajor !== 1) return null
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
    return null
  }
  if (countNames(request) * 2 !== rawHeaders.length) return null
  // safe: only Set-Cookie, which is for answers, is a list
  return { method, url, headers: headers as WholeRequest['headers'], body: null, socket }
}

/** How many different headers were sent. To HTTP/1.0 without Host, the server has added one (`serveHttp10`). */
function countNames({ headers, rawHeaders, httpVersion }: IncomingMessage): number {
  const { length } = Object.keys(headers)
  if (httpVersion !== '1.0') return length
  const isSent = rawHeaders.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'host')
  return isSent ? length : length - 1
}

function send(response: ServerResponse, { status, headers, json }: WholeAnswer): void {
  // As the adaptor does, which has no body to measure.
  if (json === null || response.req.method === 'HEAD') {
    response.writeHead(status, headers).end()
    return
  }
  const length = Buffer.byteLength(json)
  response.writeHead(status, { ...headers, 'content-length': length })
  response.end(json, encodingOf(json, length))
}
