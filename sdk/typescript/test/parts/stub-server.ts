import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server on loopback with this listener. */
export async function startServer(listener: RequestListener) {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // safe: a server that listens on a port has an AddressInfo
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** An answer, or what the server does instead of answering. */
export type Reply =
  | 'cut'
  | 'silence'
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: unknown
    }

/** A server that gives these replies, one for each request, and then the last one. */
export async function startStub(...replies: readonly Reply[]) {
  const targets: string[] = []
  const server = await startServer((request, response) => {
    const reply = replies[Math.min(targets.length, replies.length - 1)] ?? 'cut'
    targets.push(request.url ?? '')
    if (reply === 'cut') request.socket.destroy()
    if (typeof reply === 'string') return
    const { status, headers = {}, body = {} } = reply
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, headers).end(text)
  })
  return { ...server, targets }
}

export function errorReply(status: number, code: string, headers: Record<string, string> = {}) {
  return { status, headers, body: { error: { code, message: 'Refused' } } }
}
