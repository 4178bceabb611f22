import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'

/**
 * Answers one message of the Model Context Protocol over streamable HTTP, in JSON, without a session.
 * `request` has the headers, `message` the parsed body.
 */
export async function answerMessage(
  request: Request,
  message: unknown,
  createServer: () => Server,
): Promise<Response> {
  if (Array.isArray(message)) return refuseBatch()
  if (await isLegacyRequest(request, message)) return answerLegacy(request, message, createServer())
  // Without subscriptions, no answer is a stream.
  const handler = createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0 })
  return handler.fetch(request, { parsedBody: message })
}

/** A message of a revision before 2026-07-28. */
async function answerLegacy(request: Request, message: unknown, server: Server): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: message })
  } finally {
    await server.close()
  }
}

/** Revisions since 2025-06-18 have no batches. */
function refuseBatch(): Response {
  const error = { code: -32_600, message: 'Send each message in a request of its own' }
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 400 })
}
