import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { delimiter, join } from 'node:path'

const NGINX_MODULES = [
  '/usr/lib/nginx/modules/ngx_http_geoip2_module.so',
  '/usr/lib64/nginx/modules/ngx_http_geoip2_module.so',
  '/etc/nginx/modules/ngx_http_geoip2_module.so',
]

export const SERVER_CORE = 0
export const LOAD_CORE = 1

/** What this machine has of the tools that make figures better. */
export const machine = {
  canPin: hasCommand('taskset') && cpus().length > 1,
  hasWrk: hasCommand('wrk'),
  hasMmdblookup: hasCommand('mmdblookup'),
  nginxModule: hasCommand('nginx') ? NGINX_MODULES.find((path) => existsSync(path)) : undefined,
}

/** The machine in one line. */
export function machineLine(): string {
  const cores = cpus()
  const model = cores[0]?.model.trim() || 'unknown processor'
  return `${cores.length} cores, ${model}; Node ${process.versions.node}`
}

/** What is missing, in one line; empty where nothing is. */
export function missingLine(): string {
  const missing = [
    machine.hasWrk ? '' : 'wrk (autocannon is used, which costs more than some servers)',
    machine.canPin ? '' : 'taskset or a second core (nothing is pinned)',
    machine.nginxModule === undefined ? 'nginx with ngx_http_geoip2 (not compared)' : '',
  ].filter((text) => text !== '')
  return missing.length === 0 ? '' : `Missing: ${missing.join(', ')}`
}

/** The command that runs `command` on the core of servers only, where that can be said. */
export function onServerCore(command: readonly string[]): [string, ...string[]] {
  if (machine.canPin) return ['taskset', '-c', String(SERVER_CORE), ...command]
  const [program = '', ...args] = command
  return [program, ...args]
}

/** Keeps this process and what it starts off the core of servers. */
export function moveToLoadCore(): void {
  if (machine.canPin) spawnSync('taskset', ['-a', '-p', '-c', String(LOAD_CORE), `${process.pid}`])
}

const CLOCK_TICK_US = 10_000

/**
 * What the process has used: utime and stime of /proc/<pid>/stat, the 12th and 13th field behind
 * the name in brackets. NaN where the system does not tell.
 */
export function cpuMicroseconds(pid: number): number {
  try {
    const [, text = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
    const fields = text.split(' ')
    return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_US
  } catch {
    return Number.NaN
  }
}

/**
 * Memory that the process holds, in MB: all of it, what is its own, or what it has touched of the files
 * that it has mapped. NaN where the system does not tell.
 */
export function memoryMegabytes(
  pid: number,
  kind: 'VmRSS' | 'RssAnon' | 'RssFile' = 'VmRSS',
): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const kilobytes = new RegExp(`^${kind}:\\s+(\\d+)`, 'm').exec(status)?.[1]
    return Number(kilobytes) / 1024
  } catch {
    return Number.NaN
  }
}

/** Whether the program is on the PATH. */
export function hasCommand(name: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.some((folder) => isExecutable(join(folder, name)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
