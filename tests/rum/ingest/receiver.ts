import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import * as v from 'valibot'
import { Beacon } from '../../lib/contract/telemetry-schemas.ts'
import { makeApp } from '../helpers.ts'
import { listen } from './listen.ts'

export interface Received {
  readonly headers: IncomingMessage['headers']
  readonly beacon: Beacon
}

/** What serves the script and takes the beacons. */
export interface Receiver {
  /** Without a slash at the end. */
  readonly origin: string
  /** All beacons so far, as soon as there are `count` of them. */
  received(count: number): Promise<readonly Received[]>
  close(): Promise<void>
}

/** The service itself, but for the endpoint, which is played: it keeps what it is sent. */
export async function openReceiver(): Promise<Receiver> {
  const server = createServer()
  const origin = await listen(server, '127.0.0.1')
  const app = await makeApp({ env: { MERIDIAN_BASE_URL: origin } })
  const beacons: Received[] = []
  const listener = getRequestListener((request) =>
    app.app.fetch(request, { remoteAddress: '198.51.100.7' }),
  )
  server.on('request', async (request, response) => {
    if (request.url !== '/v1/telemetry/rum') {
      await listener(request, response)
      return
    }
    beacons.push(await read(request))
    answer(request, response)
    server.emit('beacon')
  })
  return {
    origin,
    received: async (count) => {
      while (beacons.length < count) await once(server, 'beacon')
      return beacons
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      app.close()
    },
  }
}

async function read(request: IncomingMessage): Promise<Received> {
  const beacon = v.parse(Beacon, JSON.parse(await text(request)))
  return { headers: request.headers, beacon }
}

function answer({ headers }: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-origin': headers.origin ?? '*',
    vary: 'Origin',
  })
  response.end()
}
