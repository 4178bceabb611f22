import { createServer, type Server } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Config } from './lib/config.ts'
import type { Log } from './lib/log.ts'
import { checkRuntime } from './lib/runtime.ts'
import type { Services } from './lib/services.ts'

const STOP_DEADLINE_MS = 10_000

try {
  checkRuntime(process.versions)
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

/** Loads the rest only now: the SQLite driver ends a process whose runtime is too old for it. */
async function main(): Promise<void> {
  const { announcement } = await import('./lib/announce.ts')
  const { readConfig } = await import('./lib/config.ts')
  const { createProgress } = await import('./lib/geo/progress.ts')
  const { createLog } = await import('./lib/log.ts')
  const { openServices } = await import('./lib/services.ts')

  const config = readConfig(process.env)
  const log = createLog({ level: config.logLevel, fd: process.stdout.fd })
  let listenUrl = ''
  const services = await openServices(config, {
    log,
    now: Date.now,
    onProgress: createProgress(process.stdout),
    listenUrl: () => listenUrl,
  })
  const server = await listen(config, services)
  listenUrl = urlOf(server, config.host)
  stopOnSignals(server, services, log)
  process.stdout.write(announcement(services.baseUrl(), services.geo.list()))
}

async function listen(config: Config, services: Services): Promise<Server> {
  const { getRequestListener } = await import('@hono/node-server')
  const { createApp, createRoutes } = await import('./routes/app.ts')
  const { createStraight } = await import('./routes/straight.ts')
  const { BatchedResponse } = await import('./lib/batched-response.ts')
  const { createListener } = await import('./lib/listener.ts')
  const routes = createRoutes(services)
  const app = createApp(services, routes)
  const hono = getRequestListener((request, env) =>
    // safe: the adaptor passes the bindings of Node
    app.fetch(request, { remoteAddress: (env as HttpBindings).incoming.socket.remoteAddress }),
  )
  const options = {
    ServerResponse: BatchedResponse,
    headersTimeout: 10_000,
    requestTimeout: 15_000,
    connectionsCheckingInterval: 2_000,
    // Longer than load balancers keep idle connections, which else meet a closed one.
    keepAliveTimeout: 65_000,
  }
  const listener = createListener(createStraight(routes), hono, (error) =>
    services.log.error({ err: error }, 'unexpected error'),
  )
  const server = createServer(options, listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.port, config.host, resolve)
  })
  return server
}

function urlOf(server: Server, host: string): string {
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The first signal lets requests finish; a second one ends the process at once. */
function stopOnSignals(server: Server, services: Services, log: Log): void {
  let stopping = false
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ signal }, 'stopping')
    services.health.drain()
    const { stopServer } = await import('./lib/stop.ts')
    await stopServer(server, { deadlineMs: STOP_DEADLINE_MS })
    services[Symbol.dispose]()
    log.info({}, 'stopped')
    log.flush()
    process.exitCode = 0
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
}
