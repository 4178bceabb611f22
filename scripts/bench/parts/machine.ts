import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempDisposableSync, readdirSync, readFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const SERVER_CORE = 0
const LOAD_CORE = 1
const CLOCK_TICK_US = 10_000

/** The machine in one line. */
export function machineLine(): string {
  const cores = cpus()
  const model = cores[0]?.model.trim() || 'unknown processor'
  const pinned = canPin() ? '' : '; processes are not pinned: taskset or a second core is missing'
  return `${cores.length} cores, ${model}; Node ${process.versions.node}${pinned}`
}

/** Creates a temporary folder, which is removed with its contents when its scope ends. */
export function makeFolder() {
  return mkdtempDisposableSync(join(tmpdir(), 'meridian-bench-'))
}

/** Returns the command that runs `command` on the servers' core, if processes can be pinned. */
export function onServerCore(command: readonly string[]): readonly string[] {
  return canPin() ? ['taskset', '-c', String(SERVER_CORE), ...command] : command
}

/** Keeps this process and its later children off the servers' core. */
export function moveToLoadCore(): void {
  if (canPin()) spawnSync('taskset', ['-a', '-p', '-c', String(LOAD_CORE), `${process.pid}`])
}

/** Returns the command that runs `command` before all others on its core, if the system permits it. */
export function atRealTimePriority(command: readonly [string, ...string[]]): typeof command {
  const realTime = ['chrt', '--rr', '1'] as const
  const [chrt, ...args] = realTime
  return spawnSync(chrt, [...args, 'true']).status === 0 ? [...realTime, ...command] : command
}

const NEW_THREADS_MS = 200

/** Keeps all threads of the process but its first off the servers' core, until it is disposed of. */
export function moveThreadsToLoadCore(pid: number): Disposable {
  const moved = new Set([String(pid)])
  const move = () => {
    for (const thread of listThreads(pid).filter((id) => !moved.has(id))) {
      spawnSync('taskset', ['-p', '-c', String(LOAD_CORE), thread])
      moved.add(thread)
    }
  }
  move()
  const timer = setInterval(move, NEW_THREADS_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

function listThreads(pid: number): string[] {
  const folder = `/proc/${pid}/task`
  return canPin() && existsSync(folder) ? readdirSync(folder) : []
}

function canPin(): boolean {
  return hasCommand('taskset') && cpus().length > 1
}

/**
 * Processor time that the process has used: utime and stime of /proc/<pid>/stat, the 12th and 13th
 * field after the name in brackets. NaN if the system does not report it.
 */
export function cpuMicroseconds(pid: number): number {
  const fields = readProc(pid, 'stat').split(') ')[1]?.split(' ')
  return (Number(fields?.[11]) + Number(fields?.[12])) * CLOCK_TICK_US
}

/**
 * Memory of the process in MB: its private memory, or the pages of mapped files that it has touched.
 * NaN if the system does not report it.
 */
export function memoryMegabytes(pid: number, kind: 'RssAnon' | 'RssFile'): number {
  const kilobytes = new RegExp(`^${kind}:\\s+(\\d+)`, 'm').exec(readProc(pid, 'status'))?.[1]
  return Number(kilobytes) / 1024
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** Whether the program is on the PATH. */
export function hasCommand(name: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.some((folder) => existsSync(join(folder, name)))
}
