import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface Fault {
  /** The system call that fails. */
  readonly call: string
  /** Such as ENOSPC. */
  readonly error: string
  /** The calls that fail: `3` is the third one, `1+` all of them. */
  readonly when: string
  /** Affected files; default: the database and its log. */
  readonly files?: readonly string[]
}

const FILES = ['app.db', 'app.db-wal']

export interface BrokenDisk {
  /** Number of calls that have failed so far. */
  failed(): number
  /** Ends the fault. */
  mend(): Promise<void>
}

/**
 * Makes system calls of a process fail on the files of its database, using strace. Counts calls from
 * now on.
 */
export async function breakDisk(
  { pid }: { readonly pid: number },
  dataDir: string,
  { call, error, when, files = FILES }: Fault,
): Promise<BrokenDisk> {
  const paths = files.flatMap((name) => ['-P', join(dataDir, name)])
  const inject = `inject=${call}:error=${error}:when=${when}`
  const child = spawn('strace', [
    '-f',
    // Lets go of esbuild, which the server starts: strace can wait for a dead multi-threaded child
    // forever.
    '-b',
    'execve',
    '-p',
    String(pid),
    ...paths,
    '-e',
    `trace=${call}`,
    '-e',
    inject,
  ])
  let output = ''
  child.stderr.setEncoding('utf8')
  const attached = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.stderr.on('data', (chunk) => {
      output += chunk
      if (/Process \d+ attached/.test(output)) resolve()
    })
    child.once('close', () => reject(new Error(`strace cannot attach: ${output}`)))
  })
  await attached
  return {
    failed: () => output.split('(INJECTED)').length - 1,
    mend: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGINT')
      await once(child, 'close')
    },
  }
}
