import { writeSync } from 'node:fs'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { ADMIN_SETTINGS, type Admin, startAdmin } from './admin/server.ts'
import { announcement } from './announce.ts'
import { type Config, readConfig } from './lib/config/config.ts'
import { checkNodes, nameRuntime } from './lib/config/runtime.ts'
import { SECOND_MS } from './lib/durations.ts'
import { createProgress } from './lib/geo/progress.ts'
import { checkAddress } from './lib/http/listen.ts'
import { type Network, openNetwork } from './lib/http/network.ts'
import type { NetworkThreadsOptions } from './lib/http/threads/network-threads.ts'
import { createLog, type Log } from './lib/log/log.ts'
import { chooseStyle } from './lib/log/text-line.ts'
import { codeUrl } from './lib/own-code.ts'
import { checkFileLimit } from './lib/process/file-limit.ts'
import { createGeoJobs } from './lib/process/geo-jobs.ts'
import { createRunScript } from './lib/process/run-script.ts'
import { stopOnSignals } from './lib/process/stop-on-signals.ts'
import { reasonOf } from './lib/reason.ts'
import type { NodeData } from './lib/services/nodes/node.ts'
import { type News, takeNews } from './lib/services/nodes/permits.ts'
import { openServices, type Services } from './lib/services/services.ts'
import { createServer } from './routes/server.ts'

/** Leaves the first seconds to the first requests. */
const PRELOAD_AFTER_MS = 3_000

/**
 * Litestream looks for the database once a second, and makes its last copy only if it has seen it
 * (`DB.Close` in 0.5.18): the writes of a server that ends sooner would be missing.
 */
const SEEN_BY_LITESTREAM_MS = 3_000

const SEMI_SPACE = '--max-semi-space-size'

/** Megabytes for new objects in each thread that starts from now on: see scripts/node.sh. */
const SEMI_SPACE_OF_THREADS = `${SEMI_SPACE}=2`

/** Opens everything, listens, and stops at a signal. */
export async function start(): Promise<void> {
  if (nameRuntime(process.versions) === 'node') setFlagsFromString(SEMI_SPACE_OF_THREADS)
  const config = readConfig(process.env)
  checkNodes(config.nodes, process.versions)
  const log = openLog(config)
  await checkAddresses(config)
  const listening = Promise.withResolvers<Network>()
  const stopping = new AbortController()
  const geoJobs = createGeoJobs(log, stopping.signal)
  let listenUrl = ''
  await using starting = new AsyncDisposableStack()
  const services = starting.use(
    await openServices(config, {
      log,
      now: Date.now,
      onProgress: createProgress(process.stdout),
      listenUrl: () => listenUrl,
      ...geoJobs,
      compileAtlas: () => listening.promise.then(geoJobs.compileAtlas),
      runScript: createRunScript(stopping.signal),
      onCrash: (error) => crash(log, error),
    }),
  )
  const openedAt = performance.now()
  await services.loadCode()
  // The admin server does not keep the process alive: if the start fails later, the process ends.
  const admin = config.admin && (await startAdmin(config.admin, services))
  const server = createServer(services)
  // Before listening: a signal that comes with the first request must find the handler.
  stopOnSignals({
    drainMs: config.drainSeconds * SECOND_MS,
    drain: (signal) => {
      stopping.abort()
      log.info({ signal }, 'stopping')
      services.health.drain()
    },
    stop: async () => {
      const network = await listening.promise
      if (config.replicated) await sleep(untilSeenByLitestream(openedAt))
      await stop(network, services, admin)
    },
  })
  const network = await listen(server, services, (url) => {
    listenUrl = url
  })
  // From here on, only the signal handler disposes of the services.
  starting.move()
  listening.resolve(network)
  setTimeout(services.preload, PRELOAD_AFTER_MS).unref()
  services.startReading()
  await services.openDemo()
  await checkFileLimit(config.maxConnections, log)
  announce(services, admin)
}

function announce(services: Services, admin: Admin | undefined): void {
  const [baseUrl, databases] = [services.baseUrl(), services.geo.list()]
  process.stdout.write(announcement({ baseUrl, databases, adminUrl: admin?.url }))
}

/** Listens on as many threads as the setting says. */
async function listen(
  server: Server,
  services: Services,
  onUrl: (url: string) => void,
): Promise<Network> {
  const { config } = services
  // Further threads make as many objects as this one, so they get the same space.
  const ownSpace = process.execArgv.find((option) => option.startsWith(`${SEMI_SPACE}=`))
  const isTuned = config.nodes > 1 && ownSpace !== undefined
  if (isTuned) setFlagsFromString(ownSpace)
  const network = await openNetwork(server, config, networkThreads(services), onUrl)
  if (isTuned) setFlagsFromString(SEMI_SPACE_OF_THREADS)
  return network
}

/** The threads that serve with this one. */
function networkThreads(services: Services): NetworkThreadsOptions {
  const { config, pool, log } = services
  const { trustedProxies, clientHeader, dataDir, logLevel, geo } = config
  return {
    count: config.nodes - 1,
    url: codeUrl('./network-thread', import.meta.url),
    data: {
      config: { trustedProxies, clientHeader, dataDir, logLevel, geo },
      rows: pool?.rows.memory,
    } satisfies NodeData,
    // safe: network-thread.ts sends only news
    onNews: (news, tell) => tell(takeNews(services, news as News)),
    onCrash: (error) => crash(log, error),
  }
}

async function checkAddresses(config: Config): Promise<void> {
  await checkAddress(config)
  if (config.admin !== undefined) await checkAddress(config.admin, ADMIN_SETTINGS)
}

function openLog({ logLevel: level }: Config): Log {
  const style = chooseStyle(process.stdout.isTTY === true, process.env)
  return createLog({ level, fd: process.stdout.fd, style })
}

/** How long to wait, in milliseconds, if the database was opened at `openedAt`. */
function untilSeenByLitestream(openedAt: number): number {
  return Math.max(0, openedAt + SEEN_BY_LITESTREAM_MS - performance.now())
}

/** Lets requests finish, writes what is in memory and closes everything. */
async function stop(network: Network, services: Services, admin: Admin | undefined): Promise<void> {
  const { log, contact, notices } = services
  await Promise.all([network.stop(), contact.queue?.courier?.stop(), notices.stop()])
  admin?.close()
  await services[Symbol.asyncDispose]()
  log.info({}, 'stopped')
  log.flush()
  process.exitCode = 0
}

/** Ends the process: without one of its threads it could serve nothing. */
function crash(log: Log, error: unknown): void {
  log.error({ err: error }, 'a thread has ended')
  log.flush()
  // The log may still be writing earlier lines.
  writeSync(process.stderr.fd, `A thread has ended: ${reasonOf(error)}\n`)
  process.exit(1)
}
