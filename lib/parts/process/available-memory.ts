import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'

/** Bytes of memory of the machine, or of the container if it may have less. */
export function totalMemory(): number {
  // 0 without a limit, or a huge number.
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}

/**
 * Bytes of memory that another process could take. Pages of files that were read long ago count as
 * available, because the system reuses them, although a container counts them as used. `root` is the
 * folder that holds /proc and /sys.
 */
export function availableMemory(root = '/'): number {
  const read = (path: string) => readText(join(root, path))
  const ofSystem = /^MemAvailable: +(\d+) kB$/m.exec(read('proc/meminfo'))?.[1]
  // In version 1 of cgroups, memory has a hierarchy of its own.
  const [, controller = '', cgroup = ''] =
    /^\d+:(memory|):(.*)$/m.exec(read('proc/self/cgroup')) ?? []
  // A container may see only its own group, at the top of the hierarchy.
  const [own, top] = [cgroup, ''].map((path) => join('sys/fs/cgroup', controller, path))
  const stat = read(`${own}/memory.stat`) || read(`${top}/memory.stat`)
  const reusable = Number(/^inactive_file (\d+)$/m.exec(stat)?.[1] ?? 0)
  // Without a limit, process.availableMemory is that of the system.
  return Math.min(
    ofSystem === undefined ? Number.POSITIVE_INFINITY : Number(ofSystem) * 1024,
    process.availableMemory() + reusable,
  )
}

/** Returns '' if the file does not exist: other systems have none of these. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
