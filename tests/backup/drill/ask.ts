import { type Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Answer {
  /** 0 if there was no complete answer. */
  readonly status: number
  readonly body: string
  /** When the answer was complete, in monotonic milliseconds. */
  readonly at: number
}

interface Options {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Sends requests to one server over persistent connections. */
export type Ask = (path: string, options: Options) => Promise<Answer>

export function createAsk(agent: Agent, url: string): Ask {
  return (path, options) => send(agent, `${url}${path}`, options)
}

/**
 * Returns whether the server still answers, so that the client may send the next request. Waits for a
 * moment after a 429 answer. Counts other unexpected answers in `others`.
 */
export async function mayGoOn(
  { status, body }: Answer,
  others: Map<string, number>,
): Promise<boolean> {
  if (status === 0) return false
  if (status === 429) await sleep(500)
  else others.set(`${status} ${body}`, (others.get(`${status} ${body}`) ?? 0) + 1)
  return true
}

function send(agent: Agent, url: string, { method, headers, body }: Options): Promise<Answer> {
  return new Promise((resolve) => {
    const fail = () => resolve({ status: 0, body: '', at: performance.now() })
    const read = (response: IncomingMessage) => {
      let text = ''
      response.on('error', fail)
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        if (!response.complete) return fail()
        resolve({ status: response.statusCode ?? 0, body: text, at: performance.now() })
      })
    }
    request(url, { method, agent, headers }, read).on('error', fail).end(body)
  })
}
