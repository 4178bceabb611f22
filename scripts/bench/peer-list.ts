import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { findFreePort } from './free-port.ts'
import { hasCommand, machine } from './machine.ts'
import { NODE, RUNTIMES, type Runtime } from './runtimes.ts'
import { startBare, startMeridian, startNginx, startServer, type Target } from './servers.ts'

/** Something that answers look-ups, to be measured beside others. */
export interface Peer {
  readonly name: string
  /** How to install what is missing for it; undefined: nothing is. */
  readonly install: string | undefined
  /** What runs it, where that is one of our runtimes: its bare answer is what to compare with. */
  readonly runtime?: string
  readonly kind: 'bare' | 'nginx' | 'other'
  /** Throws where it does not start. */
  readonly start: (folder: string) => Promise<Target>
}

export interface PeerOptions {
  /** The City file that all of them read. */
  readonly database: string
  /** Folder in whose node_modules the package maxmind lies. */
  readonly maxmindFolder: string
}

/** All that is compared, in the order of the table. */
export function listPeers(options: PeerOptions): Peer[] {
  return [
    nginx(options),
    echoip(options),
    ...RUNTIMES.flatMap((runtime) => onRuntime(runtime, options)),
  ]
}

function nginx({ database }: PeerOptions): Peer {
  const module = machine.nginxModule
  return {
    name: 'nginx with ngx_http_geoip2',
    kind: 'nginx',
    install: module === undefined ? 'apt install nginx libnginx-mod-http-geoip2' : undefined,
    start: (folder) => startNginx(folder, database, module ?? ''),
  }
}

function echoip({ database }: PeerOptions): Peer {
  return {
    name: 'echoip',
    kind: 'other',
    install: hasCommand('echoip')
      ? undefined
      : 'go install github.com/mpolden/echoip/cmd/echoip@latest, and put its folder on the PATH',
    start: async () => {
      const url = `http://127.0.0.1:${await findFreePort()}`
      const files = ['-c', resolve(database), '-f', resolve(database)]
      const command = ['echoip', '-l', new URL(url).host, ...files]
      return startServer({ name: 'echoip', command, path: '/json?ip=', url })
    },
  }
}

/** The bare answer, maxmind behind it, and ourselves. */
function onRuntime(runtime: Runtime, { database, maxmindFolder }: PeerOptions): Peer[] {
  const { name, command } = runtime
  const missing =
    runtime === NODE || hasCommand(command[0]) ? undefined : `npm install --global ${command[0]}`
  const maxmindPath = findPackage('maxmind', maxmindFolder)
  const server = [
    ...command,
    'scripts/bench/maxmind-server.ts',
    maxmindPath ?? '',
    resolve(database),
  ]
  return [
    {
      name: `bare Hono on ${name}`,
      kind: 'bare',
      runtime: name,
      install: missing,
      start: () => startBare(runtime),
    },
    {
      name: `maxmind behind Hono on ${name}`,
      kind: 'other',
      runtime: name,
      install: missing ?? (maxmindPath === undefined ? MAXMIND : undefined),
      start: () => startServer({ name: 'maxmind', command: server, path: '/v1/ip/' }),
    },
    {
      name: `Meridian on ${name}`,
      kind: 'other',
      runtime: name,
      install: missing,
      start: (folder) => {
        const own = join(folder, name)
        mkdirSync(own)
        const settings = { MERIDIAN_GEO: resolve(database) }
        return startMeridian(own, join(folder, 'geo'), settings, runtime)
      },
    },
  ]
}

const MAXMIND = 'npm install --prefix FOLDER maxmind, and say --maxmind FOLDER'

function findPackage(name: string, folder: string): string | undefined {
  try {
    return createRequire(join(resolve(folder), 'package.json')).resolve(name)
  } catch {
    return undefined
  }
}
