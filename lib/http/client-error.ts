import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { nameRuntime } from '../config/runtime.ts'
import { whenAnswered } from './when-answered.ts'
import { type WholeAnswer, writeAnswer } from './write-answer.ts'

/** A request that could not be read. `code` is the error code of node:http, '' if unknown. */
export interface Unreadable {
  readonly code: string
  readonly remoteAddress: string | undefined
}

export type AnswerUnreadable = (unreadable: Unreadable) => WholeAnswer

/** Error codes of node:http for requests that its parser rejects or that arrive too slowly. */
const REFUSED = /^(HPE_|ERR_HTTP_REQUEST_TIMEOUT$)/

/**
 * Answers CONNECT, and requests of `server` that node:http could not read. Sends the answer after
 * those to earlier requests, then closes the connection. A client that sent nothing or has
 * disconnected gets no answer.
 */
export function answerClientErrors(server: Server, answer: AnswerUnreadable): void {
  /** The last response of each connection and the one before. */
  const last = new WeakMap<Duplex, readonly (ServerResponse | undefined)[]>()
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) =>
    last.set(socket, [response, last.get(socket)?.[0]]),
  )
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
    const refuse = () => {
      if (!socket.writable) return
      writeAnswer(socket, answer({ code, remoteAddress: socket.remoteAddress }), 'close')
      socket.destroySoon()
    }
    // Only the last request can be incomplete. The refusal is then its only answer.
    const before = last.get(socket)?.find((response) => response?.req.complete)
    if (before === undefined || isOver(before)) refuse()
    else whenAnswered(before, refuse)
  })
}

const NO_TUNNELS = Object.assign(new Error('CONNECT'), { code: 'HPE_INVALID_METHOD' })

function isOver({ writableFinished, destroyed }: ServerResponse): boolean {
  return writableFinished || destroyed
}

/** Bun does not count received bytes, so on Bun a client that sent nothing gets an answer, too. */
const COUNTS_BYTES = nameRuntime(process.versions) !== 'bun'

/** Whether the client has sent something and may still read. */
function isWaiting({ writable, bytesRead }: Socket): boolean {
  return writable && (bytesRead > 0 || !COUNTS_BYTES)
}
