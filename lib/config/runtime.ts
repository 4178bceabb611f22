type Versions = Readonly<Record<string, string | undefined>>

/**
 * Name in `process.versions`, name for people, and the oldest version: of Node.js the one on which
 * the SQLite driver loads, of the others what the tests have run on. These report a version of
 * Node.js, too, so they come first.
 */
const RUNTIMES = [
  ['bun', 'Bun', '1.4'],
  ['deno', 'Deno', '2.9'],
  ['node', 'Node.js', '22.0'],
] as const

export type Runtime = (typeof RUNTIMES)[number][0]

export function nameRuntime(versions: Versions): Runtime {
  return find(versions)[0]
}

/**
 * Throws an error that says what to do where the runtime is too old: on such a Node.js the SQLite
 * driver ends the process without a word, and the time-outs of node:http are new in Deno and Bun.
 */
export function checkRuntime(versions: Versions): void {
  const [key, name, oldest] = find(versions)
  const version = versions[key] ?? ''
  if (!isOlder(version, oldest)) return
  throw new Error(
    `Cannot run on ${name} ${version}: version ${oldest} or newer is needed. ` +
      'npm ci installs a Node.js, and npm start uses it; npx tsx server.ts does, too',
  )
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
