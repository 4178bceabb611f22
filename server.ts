import type { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { HttpBindings } from '@hono/node-server'
import type { Admin } from './admin/server.ts'
import type { Config } from './lib/config.ts'
import type { Log } from './lib/log.ts'
import { checkRuntime } from './lib/runtime.ts'
import type { Services } from './lib/services/services.ts'
import type { createApp } from './routes/app.ts'

/** About what merging the databases needs at its height. */
const ATLAS_MEMORY = 700 * 1024 * 1024
/** A provider that sends byte by byte is not waited for. */
const DOWNLOAD_LIMIT_MS = 6 * 60 * 60 * 1000
/** A terminal or a supervisor may tell every process at once, and their parent passes it on again. */
const SAME_SIGNAL_MS = 1_000

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
  const { listen } = await import('./lib/listen.ts')
  const { openServices } = await import('./lib/services/services.ts')

  const config = readConfig(process.env)
  const log = createLog({ level: config.logLevel, fd: process.stdout.fd })
  let listenUrl = ''
  const listening = Promise.withResolvers<void>()
  const stopping = new AbortController()
  using starting = new DisposableStack()
  const services = starting.use(
    await openServices(config, {
      log,
      now: Date.now,
      onProgress: createProgress(process.stdout),
      listenUrl: () => listenUrl,
      compileAtlas: async () => {
        await listening.promise
        await compileAtlas(log, stopping.signal)
      },
      downloadGeo: () => {
        const limit = AbortSignal.timeout(DOWNLOAD_LIMIT_MS)
        return runGeo(['--update'], AbortSignal.any([stopping.signal, limit]))
      },
    }),
  )
  const admin = await openAdmin(config, services)
  const server = await createServer(config, services)
  listenUrl = await listen(server, config)
  // From here on, signals end it.
  starting.move()
  listening.resolve()
  stopOnSignals({ server, admin }, services, log, stopping)
  services.reconciliation.start()
  await services.openDemo()
  process.stdout.write(
    announcement({
      baseUrl: services.baseUrl(),
      databases: services.geo.list(),
      adminUrl: admin?.url,
    }),
  )
}

/** Takes memory and processor time for half a minute. */
async function compileAtlas(log: Log, signal: AbortSignal): Promise<void> {
  if (process.availableMemory() < ATLAS_MEMORY) {
    log.info({}, 'too little memory to merge the databases beforehand')
    return
  }
  await runGeo(['--atlas'], signal)
  if (!signal.aborted) log.info({}, 'databases merged beforehand')
}

/** In a process of its own, with low priority. Throws what it says, unless the server stops. */
async function runGeo(options: readonly string[], signal: AbortSignal): Promise<void> {
  const { runLowPriority } = await import('./lib/low-priority.ts')
  const script = fileURLToPath(new URL('./scripts/geo.ts', import.meta.url))
  try {
    await runLowPriority([process.execPath, ...process.execArgv, script, ...options], signal)
  } catch (error) {
    const isStopped = signal.aborted && signal.reason?.name !== 'TimeoutError'
    if (!isStopped) throw error
  }
}

/** First, and without keeping the process alive: a start that fails later ends all the same. */
async function openAdmin({ admin }: Config, services: Services): Promise<Admin | undefined> {
  if (admin === undefined) return undefined
  const { startAdmin } = await import('./admin/server.ts')
  return startAdmin(admin, services)
}

async function createServer(config: Config, services: Services): Promise<Server> {
  const { createApp, createRoutes } = await import('./routes/app.ts')
  const { createPlain, createStraight } = await import('./routes/straight.ts')
  const { answerUnreadable } = await import('./routes/unreadable.ts')
  const { createHttpServer } = await import('./lib/http-server.ts')
  const { createListener } = await import('./lib/listener.ts')
  const { tellSometimes } = await import('./lib/tell-sometimes.ts')
  const { log } = services
  const routes = createRoutes(services)
  const hono = await honoListener(services, createApp(services, routes))
  const onError = (error: unknown) => log.error({ err: error }, 'unexpected error')
  const listener = createListener(createStraight(routes), hono, onError)
  return createHttpServer(listener, {
    answerUnreadable: (unreadable) => answerUnreadable(services, unreadable),
    plain: { answer: createPlain(routes), onError },
    connections: {
      total: config.maxConnections,
      perAddress: Math.ceil(config.maxConnections / 10),
      proxies: config.trustedProxies,
      onRefused: tellSometimes((count) => log.warn({ count }, 'connections refused: too many')),
    },
  })
}

async function honoListener(services: Services, app: ReturnType<typeof createApp>) {
  const { getRequestListener, RequestError } = await import('@hono/node-server')
  const { toResponse } = await import('./routes/respond.ts')
  const { answerFailure, answerUnreadable } = await import('./routes/unreadable.ts')
  return getRequestListener(
    (request, env) =>
      // safe: the adaptor passes the bindings of Node
      app.fetch(request, { remoteAddress: (env as HttpBindings).incoming.socket.remoteAddress }),
    {
      errorHandler: (error) =>
        toResponse(
          error instanceof RequestError
            ? answerUnreadable(services, { code: '', remoteAddress: undefined })
            : answerFailure(services, error),
        ),
    },
  )
}

/** The first signal lets requests finish; one that comes later ends the process at once. */
function stopOnSignals(
  { server, admin }: { readonly server: Server; readonly admin: Admin | undefined },
  services: Services,
  log: Log,
  stopping: AbortController,
): void {
  let first = 0
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) {
      if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1)
      return
    }
    first = performance.now()
    stopping.abort()
    log.info({ signal }, 'stopping')
    services.health.drain()
    const { STOP_DEADLINE_MS, stopServer } = await import('./lib/stop.ts')
    const { queue } = services.contact
    await Promise.all([
      stopServer(server, { deadlineMs: STOP_DEADLINE_MS }),
      queue?.courier?.stop(),
    ])
    admin?.close()
    services[Symbol.dispose]()
    log.info({}, 'stopped')
    log.flush()
    process.exitCode = 0
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop)
}
