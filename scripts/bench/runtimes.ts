/** A runtime, and how it runs one of our files. */
export interface Runtime {
  readonly name: string
  readonly command: readonly [program: string, ...args: string[]]
}

/** The one that runs this, with tsx. */
export const NODE: Runtime = { name: 'Node', command: [process.execPath, '--import', 'tsx'] }

/** Those that the server runs on; each but Node as it is found on the PATH. */
export const RUNTIMES: readonly Runtime[] = [
  NODE,
  { name: 'Deno', command: ['deno', 'run', '--allow-all'] },
  { name: 'Bun', command: ['bun', 'run'] },
]
