import { createServer, type RequestListener, type Server } from 'node:http'
import { BatchedResponse } from './batched-response.ts'
import { type AnswerUnreadable, createClientErrorListener } from './client-error.ts'
import { type ConnectionLimits, limitConnections } from './connections.ts'
import { listenByNet } from './net-front.ts'
import { answerPlainRequests, type PlainOptions } from './plain-connections.ts'
import { nameRuntime } from './runtime.ts'
import { resetSlowReaders } from './slow-readers.ts'

export interface HttpServerOptions {
  readonly connections: ConnectionLimits
  readonly answerUnreadable: AnswerUnreadable
  readonly plain: PlainOptions
}

/** What a client may take. docs/security.md tells the same. */
const LIMITS = {
  /** Who sends nothing, or no whole head, is let go after this and one check; in milliseconds. */
  headersTimeout: 8_000,
  /** The same for a whole request with its body. */
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than load balancers keep idle connections, which else meet a closed one. */
  keepAliveTimeout: 65_000,
  /** Request line and headers together, in bytes. */
  maxHeaderSize: 16 * 1024,
  /** Whatever NODE_OPTIONS say: a lenient parser may see other requests than a proxy does. */
  insecureHTTPParser: false,
  /** What is sent without Host gets an error in the form of all others, not an empty one. */
  requireHostHeader: false,
} as const

/** What clients may leave unread. */
const READERS = { longestMs: 30_000, mostBytes: 64 * 1024 * 1024, checkEveryMs: 1_000 } as const

/** A server of node:http that does not listen yet, and lets no client take more than its share. */
export function createHttpServer(
  listener: RequestListener,
  { connections, answerUnreadable, plain }: HttpServerOptions,
): Server {
  const server = createServer({ ...LIMITS, ServerResponse: BatchedResponse }, listener)
  // All that fit: else node:http drops the last ones without a word, such as X-Forwarded-For.
  server.maxHeadersCount = 0
  // What a client expects beside 100-continue, nobody has to fulfil.
  server.on('checkExpectation', listener)
  server.on('clientError', createClientErrorListener(answerUnreadable))
  if (nameRuntime(process.versions) === 'bun') listenByNet(server, LIMITS)
  limitConnections(server, connections)
  answerPlainRequests(server, plain)
  resetSlowReaders(server, READERS)
  return server
}
