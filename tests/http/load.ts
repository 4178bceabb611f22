import { Agent, type IncomingMessage, request } from 'node:http'

export interface Load {
  /** When answers with 200 or 404 arrived, in monotonic milliseconds. */
  readonly answeredAt: readonly number[]
  /** Every other outcome. */
  readonly others: readonly string[]
  /** Resolves once every client has ended, because the server is gone or `stop` was called. */
  readonly ended: Promise<void>
  stop(): void
}

/**
 * Starts clients that each send look-ups one after the other over a keep-alive connection, until it
 * breaks. `from` is an address of this machine.
 */
export function startLoad(url: string, key: string, clients: number, from = '127.0.0.1'): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: clients, localAddress: from })
  const answeredAt: number[] = []
  const others: string[] = []
  let stopped = false
  const client = async (number: number) => {
    for (let n = 0; !stopped; n++) {
      const path = `/v1/ip/81.2.${number}.${n & 255}`
      const status = await ask(agent, `${url}${path}`, key)
      if (status === 200 || status === 404) answeredAt.push(performance.now())
      else others.push(String(status))
      if (typeof status === 'string') return
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return {
    answeredAt,
    others,
    ended: ended.then(() => agent.destroy()),
    stop: () => {
      stopped = true
    },
  }
}

/** The status of a whole answer, or the error. */
function ask(agent: Agent, url: string, key: string): Promise<number | string> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve(error.message)
    const read = (answer: IncomingMessage) => {
      answer.on('error', fail)
      answer.on('end', () => resolve(answer.complete ? (answer.statusCode ?? 0) : 'cut off'))
      answer.resume()
    }
    request(url, { agent, headers: { 'x-api-key': key } }, read)
      .on('error', fail)
      .end()
  })
}
