import { writeSync } from 'node:fs'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { ADMIN_SETTINGS, type Admin, startAdmin } from '../admin/server.ts'
import { type Config, readConfig } from '../lib/config/config.ts'
import { checkNodes, nameRuntime } from '../lib/config/runtime.ts'
import { APP_PATH, DOCS_PATH } from '../lib/contract/pages.ts'
import type { GeoDatabase } from '../lib/geo/database.ts'
import { createProgress } from '../lib/geo/progress.ts'
import { checkAddress, type ListenAddress, listen, stopServer } from '../lib/http/listen.ts'
import { codeUrl, usageText } from '../lib/parts/clone-or-package.ts'
import { SECOND_MS } from '../lib/parts/durations.ts'
import { createLog, type Log } from '../lib/parts/log/log.ts'
import { chooseStyle } from '../lib/parts/log/text-line.ts'
import { checkFileLimit } from '../lib/parts/process/file-limit.ts'
import { createGeoJobs } from '../lib/parts/process/geo-jobs.ts'
import { type NodeProcesses, startNodeProcesses } from '../lib/parts/process/node-processes.ts'
import type { ParentProcess } from '../lib/parts/process/parent-process.ts'
import { createRunScript } from '../lib/parts/process/run-script.ts'
import { type Steps, stopOnSignals } from '../lib/parts/process/stop-on-signals.ts'
import { reasonOf } from '../lib/parts/reason.ts'
import { openServices, type Services } from '../lib/services/services.ts'
import { createServer } from '../routes/server.ts'

/** Leaves the first seconds to the first requests. */
const PRELOAD_AFTER_MS = 3_000

/**
 * Litestream looks for the database once a second, and makes its last copy only if it has seen it
 * (`DB.Close` in 0.5.18): the writes of a server that ends sooner would be missing.
 */
const SEEN_BY_LITESTREAM_MS = 3_000

/** Megabytes for new objects in each thread that starts from now on: see scripts/node.sh. */
const SEMI_SPACE_OF_THREADS = '--max-semi-space-size=2'

/**
 * Opens everything, listens, and stops at a signal. `parent`: this is a further process, which the first one
 * has started and stops.
 */
export async function start(parent?: ParentProcess): Promise<void> {
  if (nameRuntime(process.versions) === 'node') setFlagsFromString(SEMI_SPACE_OF_THREADS)
  const config = configOf(parent)
  checkNodes(config, process.versions)
  const log = openLog(config, parent)
  if (parent === undefined) await checkAddresses(config)
  /** Resolves once all listen, with the other processes; undefined: there are none. */
  const listening = Promise.withResolvers<NodeProcesses | undefined>()
  const stopping = new AbortController()
  let listenUrl = ''
  await using starting = new AsyncDisposableStack()
  const services = starting.use(
    await openServices(config, {
      log,
      now: Date.now,
      onProgress: createProgress(process.stdout),
      listenUrl: () => listenUrl,
      ...jobsOf(parent, { log, stopping: stopping.signal, ready: listening.promise }),
      onCrash: (error) => crash(log, error),
    }),
  )
  const openedAt = performance.now()
  await services.loadCode()
  // The admin server does not keep the process alive: if the start fails later, the process ends.
  const admin = config.admin && (await startAdmin(config.admin, services))
  const server = createServer(services)
  // Before listening: a signal that comes with the first request must find the handler.
  follow(parent, {
    drainMs: config.drainSeconds * SECOND_MS,
    drain: (signal) => {
      stopping.abort()
      log.info({ signal }, 'stopping')
      services.health.drain()
      void listening.promise.then((others) => others?.drain(signal))
    },
    stop: async () => {
      if (config.replicated) await sleep(untilSeenByLitestream(openedAt))
      await stop(services, { server, admin, others: await listening.promise })
    },
  })
  listenUrl = await listen(server, listenAddress(services))
  starting.defer(() => stopServer(server))
  const others = await startOthers(services, new URL(listenUrl))
  // From here on, only the signal handler disposes of the services.
  starting.move()
  listening.resolve(others)
  setTimeout(services.preload, PRELOAD_AFTER_MS).unref()
  services.startReadingStripe()
  await services.openDemo()
  await checkFileLimit(config.maxConnections, log)
  if (parent === undefined) announce(services, [admin?.url ?? [], others?.adminUrls ?? []].flat())
  else parent.reportUrl(admin?.url ?? null)
}

/** The settings. A further process listens where the first one says. */
function configOf(parent: ParentProcess | undefined): Config {
  const config = readConfig(process.env)
  if (parent === undefined) return config
  const { port, adminPort } = parent.start
  const admin = config.admin && adminPort !== undefined && { ...config.admin, port: adminPort }
  return { ...config, port, admin: admin || undefined, processes: 1 }
}

interface JobOptions {
  readonly log: Log
  readonly stopping: AbortSignal
  readonly ready: Promise<unknown>
}

/** What the services do in other processes. The first process makes the atlas, which the others then find. */
function jobsOf(parent: ParentProcess | undefined, { log, stopping, ready }: JobOptions) {
  const { compileAtlas, downloadGeo, updateGeofeeds } = createGeoJobs(log, stopping)
  const runScript = createRunScript(stopping)
  if (parent !== undefined) {
    return { downloadGeo, compileAtlas: async () => {}, runScript, isFurther: true }
  }
  return { downloadGeo, updateGeofeeds, compileAtlas: () => ready.then(compileAtlas), runScript }
}

function follow(parent: ParentProcess | undefined, steps: Steps): void {
  if (parent === undefined) stopOnSignals(steps)
  else parent.follow(steps)
}

function announce(services: Services, adminUrls: readonly string[]): void {
  const { config, geo } = services
  const offersSignUp = config.allowSignUp && config.authUrl === undefined
  const given = { baseUrl: services.baseUrl(), databases: geo.list(), adminUrls, offersSignUp }
  process.stdout.write(announcement(given))
}

function listenAddress({ config: { host, port, processes }, isFurther }: Services): ListenAddress {
  return { host, port, reusePort: isFurther || processes > 1 }
}

/** Starts the other processes, which listen on the port of `url`. Their ports for operators follow this one's. */
async function startOthers(
  { config, log }: Services,
  url: URL,
): Promise<NodeProcesses | undefined> {
  const { processes, admin } = config
  if (processes === 1) return undefined
  const starts = Array.from({ length: processes - 1 }, (_, at) => ({
    number: at + 2,
    port: Number(url.port),
    adminPort: admin && (admin.port === 0 ? 0 : admin.port + at + 1),
  }))
  return startNodeProcesses({
    url: codeUrl('./node-process', import.meta.url),
    starts,
    onLines: log.writeBytes,
    onEnd: (error) => log.error({ err: error }, 'a process has ended, and is started again'),
  })
}

async function checkAddresses(config: Config): Promise<void> {
  await checkAddress(config)
  if (config.admin !== undefined) await checkAddress(config.admin, ADMIN_SETTINGS)
}

function openLog({ logLevel: level, processes }: Config, parent: ParentProcess | undefined): Log {
  const style = chooseStyle(process.stdout.isTTY === true, process.env)
  const node = parent?.start.number ?? (processes > 1 ? 1 : undefined)
  return createLog({ level, fd: process.stdout.fd, style, node })
}

/** How long to wait, in milliseconds, if the database was opened at `openedAt`. */
function untilSeenByLitestream(openedAt: number): number {
  return Math.max(0, openedAt + SEEN_BY_LITESTREAM_MS - performance.now())
}

interface Listeners {
  readonly server: Server
  readonly admin: Admin | undefined
  readonly others: NodeProcesses | undefined
}

/** Lets requests finish, writes what is in memory and closes everything. */
async function stop(services: Services, { server, admin, others }: Listeners): Promise<void> {
  const { log, contact, mails, notices } = services
  const stopped = others?.stop()
  const couriers = [contact.queue?.courier?.stop(), mails.stop(), notices.stop()]
  await Promise.all([stopServer(server), ...couriers])
  admin?.close()
  await services[Symbol.asyncDispose]()
  await stopped
  log.info({}, 'stopped')
  log.flush()
  // A supervisor must see that counts are lost.
  process.exitCode = services.ledger.size === 0 ? 0 : 1
}

/** Ends the process, which could serve nothing without one of its threads. */
function crash(log: Log, error: unknown): void {
  log.error({ err: error }, 'a thread has ended')
  log.flush()
  // The log may still be writing earlier lines.
  writeSync(process.stderr.fd, `A thread has ended: ${reasonOf(error)}\n`)
  process.exit(1)
}

interface Announced {
  readonly baseUrl: string
  readonly databases: readonly GeoDatabase[]
  /** One of each process; empty: the admin port is off. */
  readonly adminUrls: readonly string[]
  readonly offersSignUp: boolean
}

/** Returns the text that `npm start` prints once the service answers. */
function announcement({ baseUrl, databases, adminUrls, offersSignUp }: Announced): string {
  const rows = databases.map(
    ({ name, provider, metadata }) =>
      `             ${name} (${provider}), built ${new Date(metadata.builtAt).toISOString().slice(0, 10)}`,
  )
  return [
    `Meridian     ${baseUrl}`,
    `Dashboard    ${baseUrl}${APP_PATH}`,
    `Reference    ${baseUrl}${DOCS_PATH}`,
    ...adminUrls.map((url) => `Operators    ${url}/metrics`),
    `Databases    ${rows.join('\n').trimStart()}`,
    ...(offersSignUp ? [`First key    ${baseUrl}${APP_PATH}/sign-up, or`] : []),
    `${offersSignUp ? '         ' : 'First key'}    ${usageText('key', '--email you@example.com --name first')}`,
    '',
  ].join('\n')
}
