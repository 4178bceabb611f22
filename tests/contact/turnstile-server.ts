import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import * as v from 'valibot'
import { startLoopbackServer } from '../support/loopback-server.ts'

/** The answer to each token. */
export const TOKENS: Readonly<Record<string, (answer: ServerResponse) => void>> = {
  good: (answer) => send(answer, 200, { success: true, hostname: 'shop.example' }),
  bad: (answer) => send(answer, 200, failure('invalid-input-response')),
  spent: (answer) => send(answer, 200, failure('timeout-or-duplicate')),
  internal: (answer) => send(answer, 200, failure('internal-error')),
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
  /** The requests so far, oldest first. */
  readonly asked: readonly Asked[]
}

/** Starts a fake Turnstile on loopback whose answer depends on the token. */
export async function startTurnstile(): Promise<TurnstileServer> {
  const asked: Asked[] = []
  const loopback = await startLoopbackServer(async (request, answer) => {
    const question = v.parse(Asked, JSON.parse(await text(request)))
    asked.push(question)
    const reply = TOKENS[question.response] ?? TOKENS['bad']
    reply?.(answer)
  })
  return {
    url: `${loopback.origin}/siteverify`,
    asked,
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  }
}
