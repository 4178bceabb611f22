import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findBundled } from '../../lib/geo/files/bundled.ts'
import { PREPARED } from '../../lib/geo/files/prepare.ts'
import { hasCommand } from '../parts/machine.ts'
import type { BenchOptions } from '../parts/options.ts'
import {
  NODE,
  RUNTIMES,
  type Runtime,
  startMeridian,
  startServer,
  type Target,
} from '../parts/servers.ts'
import { GEOIP2_MODULES, startNginxLookup, startNginxProxy, startNginxService } from './nginx.ts'

/** A server that takes part in a comparison. */
export interface Entrant {
  readonly name: string
  /** How to install what is missing; undefined if nothing is missing. */
  readonly install: string | undefined
  readonly start: (folder: string) => Promise<Target>
}

/** Meridian with all databases, a bare answer, and nginx with the City file. */
export function listHttpEntrants(cityFile: string, geoFolder: string): Entrant[] {
  const start = (folder: string) => startMeridian(folder, geoFolder)
  return [{ name: 'Meridian', install: undefined, start }, bareHono(NODE), nginx(cityFile)]
}

/**
 * All servers, in the order of the table. Apart from the bare answers, all read the City file; those
 * of a whole service read all databases.
 */
export function listEntrants(
  cityFile: string,
  { maxmindFolder, geoFolder }: Pick<BenchOptions, 'maxmindFolder' | 'geoFolder'>,
): Entrant[] {
  const onRuntimes = RUNTIMES.flatMap((runtime) => [
    meridian(runtime, cityFile),
    bareHono(runtime),
    maxmind(runtime, cityFile, maxmindFolder),
  ])
  return [...onRuntimes, nginx(cityFile), ...wholeServices(cityFile, geoFolder)]
}

/** Meridian with all databases, alone and behind nginx, and nginx with what Meridian does. */
function wholeServices(cityFile: string, geoFolder: string): Entrant[] {
  const { install, module } = findGeoip2()
  const [ipv4] = findBundled().dbipCity
  const files = {
    city: resolve(cityFile),
    asn: resolve(geoFolder, PREPARED.asn),
    dbipCity: ipv4?.path ?? '',
  }
  return [
    {
      name: 'Meridian with all databases',
      install: undefined,
      start: (folder) => startMeridian(makeFolderIn(folder, 'whole'), geoFolder),
    },
    {
      name: 'Meridian behind nginx (CPU and memory of Meridian)',
      install,
      start: (folder) => startBehindNginx(makeFolderIn(folder, 'behind'), geoFolder),
    },
    {
      name: 'nginx doing what Meridian does',
      install,
      start: (folder) => startNginxService(folder, module, files),
    },
  ]
}

function meridian(runtime: Runtime, cityFile: string): Entrant {
  return onRuntime('Meridian', runtime, (folder) => {
    const own = makeFolderIn(folder, runtime.name)
    // The atlas of a single file must not replace the atlas of the prepared folder.
    const geoFolder = join(folder, 'geo')
    return startMeridian(own, geoFolder, { MERIDIAN_GEO: resolve(cityFile) }, runtime)
  })
}

/** Hono's answer of a constant country. */
export function bareHono(runtime: Runtime): Entrant {
  return onRuntime('bare Hono', runtime, (folder) => serveHono(runtime, folder))
}

/** The npm package maxmind behind a Hono handler. */
function maxmind(runtime: Runtime, cityFile: string, maxmindFolder: string): Entrant {
  const path = resolve(maxmindFolder, 'node_modules/maxmind')
  const advice = 'npm install --prefix FOLDER maxmind, then use --maxmind FOLDER'
  const entrant = onRuntime('maxmind behind Hono', runtime, (folder) =>
    serveHono(runtime, folder, path, resolve(cityFile)),
  )
  return { ...entrant, install: entrant.install ?? (existsSync(path) ? undefined : advice) }
}

function onRuntime(name: string, runtime: Runtime, start: Entrant['start']): Entrant {
  const [program] = runtime.command
  const isThere = runtime === NODE || hasCommand(program)
  const install = isThere ? undefined : `npm install --global ${program}`
  return { name: `${name} on ${runtime.name}`, install, start }
}

function nginx(cityFile: string): Entrant {
  const { install, module } = findGeoip2()
  return {
    name: 'nginx with ngx_http_geoip2',
    install,
    start: (folder) => startNginxLookup(folder, module, resolve(cityFile)),
  }
}

function findGeoip2() {
  const module = hasCommand('nginx') ? GEOIP2_MODULES.find(existsSync) : undefined
  const install = module === undefined ? 'apt install nginx libnginx-mod-http-geoip2' : undefined
  return { install, module: module ?? '' }
}

async function startBehindNginx(folder: string, geoFolder: string): Promise<Target> {
  await using starting = new AsyncDisposableStack()
  const settings = { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' }
  const meridian = starting.use(await startMeridian(folder, geoFolder, settings))
  const proxy = starting.use(await startNginxProxy(folder, meridian))
  const owned = starting.move()
  return { ...proxy, pid: meridian.pid, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

function makeFolderIn(folder: string, name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { mode: 0o700 })
  return path
}

function serveHono({ command }: Runtime, folder: string, ...args: string[]): Promise<Target> {
  const script = 'bench/compare/hono-server.ts'
  return startServer({ folder, command: [...command, script, ...args], path: '/v1/ip/' })
}
