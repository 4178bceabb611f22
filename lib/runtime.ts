/** The oldest Node.js on which the SQLite driver loads. */
const OLDEST_NODE = 22

/**
 * Throws an error that says what to do where the runtime is too old: on such a Node.js the SQLite
 * driver ends the process without a word. Deno and Bun report a Node.js that is new enough.
 */
export function checkRuntime(versions: Readonly<Record<string, string | undefined>>): void {
  const node = versions['node'] ?? ''
  if (Number.parseInt(node, 10) >= OLDEST_NODE) return
  throw new Error(
    `Cannot run on Node.js ${node}: version ${OLDEST_NODE} or newer is needed. ` +
      'npm ci installs one, and npm start uses it; npx tsx server.ts does, too',
  )
}
