import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import * as v from 'valibot'
import { Beacon } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { makeApp } from '../../support/helpers.ts'
import { startLoopbackServer } from '../../support/loopback-server.ts'

export interface Received {
  readonly headers: IncomingMessage['headers']
  readonly beacon: Beacon
}

/** A server that serves the script and records beacons. */
export interface Receiver extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string
  /** Resolves with all beacons so far, once there are at least `count`. */
  received(count: number): Promise<readonly Received[]>
}

/** Starts the real service with a fake endpoint that records beacons. */
export async function openReceiver(): Promise<Receiver> {
  const beacons: Received[] = []
  const loopback = await startLoopbackServer(async (request, response) => {
    if (request.url !== '/v1/telemetry/rum') {
      await listener(request, response)
      return
    }
    beacons.push(await read(request))
    answer(request, response)
    server.emit('beacon')
  })
  const { origin, server } = loopback
  const app = await makeApp({ env: { MERIDIAN_BASE_URL: origin } })
  const listener = getRequestListener((request) =>
    app.app.fetch(request, { remoteAddress: '198.51.100.7' }),
  )
  return {
    origin,
    received: async (count) => {
      while (beacons.length < count) await once(server, 'beacon')
      return beacons
    },
    [Symbol.asyncDispose]: async () => {
      await loopback[Symbol.asyncDispose]()
      await app.close()
    },
  }
}

async function read(request: IncomingMessage): Promise<Received> {
  const beacon = v.parse(Beacon, JSON.parse(await text(request)))
  return { headers: request.headers, beacon }
}

function answer({ headers }: IncomingMessage, response: ServerResponse): void {
  response.writeHead(204, { 'access-control-allow-origin': headers.origin ?? '*', vary: 'Origin' })
  response.end()
}
