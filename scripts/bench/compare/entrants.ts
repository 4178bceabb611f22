import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { hasCommand } from '../parts/machine.ts'
import {
  NODE,
  RUNTIMES,
  type Runtime,
  startMeridian,
  startServer,
  type Target,
} from '../parts/servers.ts'
import { GEOIP2_MODULES, startNginxLookup } from './nginx.ts'

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

/** All servers, in the order of the table. Apart from the bare answers, all read the City file. */
export function listEntrants(cityFile: string, maxmindFolder: string): Entrant[] {
  const onRuntimes = RUNTIMES.flatMap((runtime) => [
    meridian(runtime, cityFile),
    bareHono(runtime),
    maxmind(runtime, cityFile, maxmindFolder),
  ])
  return [...onRuntimes, nginx(cityFile)]
}

function meridian(runtime: Runtime, cityFile: string): Entrant {
  return onRuntime('Meridian', runtime, (folder) => {
    const own = join(folder, runtime.name)
    mkdirSync(own)
    // The atlas of a single file must not replace the atlas of the prepared folder.
    const geoFolder = join(folder, 'geo')
    return startMeridian(own, geoFolder, { MERIDIAN_GEO: resolve(cityFile) }, runtime)
  })
}

function bareHono(runtime: Runtime): Entrant {
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
  const module = hasCommand('nginx') ? GEOIP2_MODULES.find(existsSync) : undefined
  return {
    name: 'nginx with ngx_http_geoip2',
    install: module === undefined ? 'apt install nginx libnginx-mod-http-geoip2' : undefined,
    start: (folder) => startNginxLookup(folder, module ?? '', resolve(cityFile)),
  }
}

function serveHono({ command }: Runtime, folder: string, ...args: string[]): Promise<Target> {
  const script = 'scripts/bench/compare/hono-server.ts'
  return startServer({ folder, command: [...command, script, ...args], path: '/v1/ip/' })
}
