import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempDisposableSync, readdirSync, readFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import koffi from 'koffi'

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

const NEW_THREADS_MS = 5

/**
 * Keeps all threads of the process but its first, and the processes that it starts, off the servers' core,
 * until it is disposed of. They begin on that core, because they inherit it.
 */
export function moveThreadsToLoadCore(pid: number): Disposable {
  if (!canPin()) return { [Symbol.dispose]: () => {} }
  const setAffinity = koffi
    .load('libc.so.6')
    .func('int sched_setaffinity(int thread, size_t size, const uint64_t *cores)')
  const moved = new Set([pid])
  const move = () => {
    const children = listThreads(pid).flatMap((thread) => listChildren(pid, thread))
    for (const thread of [pid, ...children].flatMap(listThreads)) {
      if (moved.has(thread)) continue
      setAffinity(
        thread,
        BigUint64Array.BYTES_PER_ELEMENT,
        BigUint64Array.of(1n << BigInt(LOAD_CORE)),
      )
      moved.add(thread)
    }
  }
  move()
  const timer = setInterval(move, NEW_THREADS_MS)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** The ids of the threads of a process; none once it has ended. */
function listThreads(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return []
  }
}

/** The ids of the processes that the thread has started. */
function listChildren(pid: number, thread: number): number[] {
  return readProc(pid, `task/${thread}/children`).split(' ').filter(Boolean).map(Number)
}

function canPin(): boolean {
  return hasCommand('taskset') && cpus().length > 1
}

/**
 * Processor time that the process has used: utime and stime of /proc/<pid>/stat, the 12th and 13th
 * field after the name in brackets. NaN if the system does not report it.
 */
export function cpuMicroseconds(pid: number): number {
  return readCpu(pid, 'stat')
}

/** Processor time of the first thread of the process, which answers requests. */
export function firstThreadMicroseconds(pid: number): number {
  return readCpu(pid, `task/${pid}/stat`)
}

function readCpu(pid: number, file: string): number {
  const fields = readProc(pid, file).split(') ')[1]?.split(' ')
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
