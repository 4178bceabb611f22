import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { nameRuntime } from '../config/runtime.ts'
import { createPerConnection } from './per-connection.ts'
import { isOver, type WholeAnswer, whenAnswered, writeAnswer } from './write-answer.ts'

/** A request that could not be read. `code` is the error code of node:http, '' if unknown. */
export interface Unreadable {
  readonly code: string
  readonly remoteAddress: string | undefined
}

export type AnswerUnreadable = (unreadable: Unreadable) => WholeAnswer

/** The last response of a connection and the one before. */
const lastResponses = createPerConnection<readonly (ServerResponse | undefined)[]>()

/** Error codes of node:http for requests that its parser rejects or that arrive too slowly. */
const REFUSED = /^(HPE_|ERR_HTTP_REQUEST_TIMEOUT$)/

/**
 * Answers CONNECT, and requests of `server` that node:http could not read. Sends the answer after
 * those to earlier requests, then closes the connection. Sends none to a client that sent nothing, has
 * disconnected or already has the answer to a request with an unreadable body.
 */
export function answerClientErrors(server: Server, answer: AnswerUnreadable): void {
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    lastResponses.set(socket, [response, lastResponses.get(socket)?.[0]])
  })
  // Without a listener, node:http would drop the answers to earlier requests.
  server.on('connect', (_, socket) => {
    // node:http has removed its own listener; a reset would end the process.
    socket.on('error', () => {})
    server.emit('clientError', NO_TUNNELS, socket)
  })
  /** Connections whose further bytes are dropped: the parser would report each chunk as an error. */
  const refused = new WeakSet<Duplex>()
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (refused.has(socket)) return
    refused.add(socket)
    socket.removeAllListeners('data').resume()
    const { code = '' } = error
    if (!(socket instanceof Socket && isWaiting(socket) && REFUSED.test(code))) {
      socket.destroy()
      return
    }
    const responses = lastResponses.get(socket) ?? []
    const complete = responses.find((response) => response?.req.complete)
    afterAnswer(complete, () => {
      if (!socket.writable) return
      const own = findBegun(responses[0])
      if (own === undefined) {
        writeAnswer(socket, answer({ code, remoteAddress: socket.remoteAddress }), 'close')
      }
      afterAnswer(own, () => socket.destroySoon())
    })
  })
}

const NO_TUNNELS = Object.assign(new Error('CONNECT'), { code: 'HPE_INVALID_METHOD' })

/** Calls `next` when `response` is sent or its connection closes. Without a response, calls it at once. */
function afterAnswer(response: ServerResponse | undefined, next: () => void): void {
  if (response === undefined || isOver(response)) next()
  else whenAnswered(response, next)
}

/**
 * Returns the answer to a request that cannot be read to its end, if it has begun. Then it is the
 * request's only answer. Only the last request of a connection can be incomplete.
 */
function findBegun(last: ServerResponse | undefined): ServerResponse | undefined {
  return last?.req.complete === false && last.headersSent ? last : undefined
}

/** Bun does not count received bytes, so on Bun a client that sent nothing gets an answer, too. */
const COUNTS_BYTES = nameRuntime(process.versions) !== 'bun'

/** Whether the client has sent something and may still read. */
function isWaiting({ writable, bytesRead }: Socket): boolean {
  return writable && (bytesRead > 0 || !COUNTS_BYTES)
}
