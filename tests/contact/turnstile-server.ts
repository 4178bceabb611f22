import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import * as v from 'valibot'

/** What a token is answered with. */
export const TOKENS: Readonly<Record<string, (answer: ServerResponse) => void>> = {
  good: (answer) => send(answer, 200, { success: true, hostname: 'shop.example' }),
  bad: (answer) => send(answer, 200, failure('invalid-input-response')),
  spent: (answer) => send(answer, 200, failure('timeout-or-duplicate')),
  trouble: (answer) => send(answer, 200, failure('internal-error')),
  failing: (answer) => send(answer, 500, { success: true }),
  elsewhere: (answer) => answer.writeHead(302, { location: '/' }).end(),
  rubbish: (answer) => answer.end('<html>success</html>'),
  truthy: (answer) => send(answer, 200, { success: 'true' }),
  endless: (answer) => answer.end(`{"success":true,"x":"${'x'.repeat(100_000)}"}`),
  broken: (answer) => answer.destroy(),
  slow: () => {},
}

function failure(code: string) {
  return { success: false, 'error-codes': [code] }
}

function send(answer: ServerResponse, status: number, body: object): void {
  answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

const Asked = v.strictObject({ secret: v.string(), response: v.string() })
export type Asked = v.InferOutput<typeof Asked>

export interface TurnstileServer extends AsyncDisposable {
  readonly url: string
  /** What was asked, oldest first. */
  readonly asked: readonly Asked[]
}

/** A Turnstile on loopback: the token says how it answers. */
export async function startTurnstile(): Promise<TurnstileServer> {
  const asked: Asked[] = []
  const server = createServer(async (request, answer) => {
    const question = v.parse(Asked, JSON.parse(await text(request)))
    asked.push(question)
    const reply = TOKENS[question.response] ?? TOKENS['bad']
    reply?.(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // safe: a TCP server that listens has such an address
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/siteverify`,
    asked,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
