import { IS_PACKAGE } from '../parts/clone-or-package.ts'

type Versions = Readonly<Record<string, string | undefined>>

/**
 * Key in `process.versions`, display name, oldest supported version. `DisposableStack` sets the
 * oldest Node.js; Bun and Deno start at the versions that the tests ran on. Both also report a
 * version of Node.js, so they come first.
 */
const RUNTIMES = [
  ['bun', 'Bun', '1.4'],
  ['deno', 'Deno', '2.9'],
  ['node', 'Node.js', '24.0'],
] as const

export type Runtime = (typeof RUNTIMES)[number][0]

export function nameRuntime(versions: Versions): Runtime {
  return find(versions)[0]
}

/** The runtime and its version, such as `Node.js 24.1.0`. */
export function runtimeText(versions: Versions): string {
  const [key, name] = find(versions)
  return `${name} ${versions[key] ?? ''}`
}

/**
 * Throws if the runtime is too old, and says what to do. On an old Node.js the SQLite driver may
 * crash the process without a message; older Deno and Bun lack the time-outs of node:http.
 */
export function checkRuntime(versions: Versions): void {
  const [key, name, oldest] = find(versions)
  const version = versions[key] ?? ''
  if (!isOlder(version, oldest)) return
  const [install, start] = IS_PACKAGE
    ? ['npm install', 'npx meridian start']
    : ['npm ci', 'npm start']
  throw new Error(
    `Cannot run on ${name} ${version}: version ${oldest} or newer is required. ` +
      `Run ${install}, which installs the right Node.js, then ${start}, which uses it`,
  )
}

/** Throws if several processes cannot listen on one port here. */
export function checkNodes(
  { processes }: { readonly processes: number },
  versions: Versions,
  platform = process.platform,
): void {
  if (processes === 1) return
  if (nameRuntime(versions) === 'bun') {
    throw new Error('Cannot use MERIDIAN_NODES on Bun: unset it, or use Node.js')
  }
  const system = WITHOUT_SHARED_PORTS[platform]
  if (system !== undefined) {
    throw new Error(`Cannot use MERIDIAN_NODES on ${system}: unset it, or use Linux`)
  }
}

/** Node.js cannot listen there on one port several times: see `reusePort` of node:net. */
const WITHOUT_SHARED_PORTS: Partial<Record<NodeJS.Platform, string>> = {
  darwin: 'macOS',
  win32: 'Windows',
}

function find(versions: Versions) {
  const [bun, deno, node] = RUNTIMES
  return [bun, deno].find(([key]) => versions[key] !== undefined) ?? node
}

function isOlder(version: string, oldest: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [oldestMajor = 0, oldestMinor = 0] = oldest.split('.').map(Number)
  return major === oldestMajor ? minor < oldestMinor : major < oldestMajor
}
