import { type Backup, listBackups } from '../../backup/backup-folder.ts'
import { runtimeText } from '../../config/runtime.ts'
import { PROXY_ADVICE, proxyProblem } from '../../config/seen-proxy.ts'
import { INTERFACE_VERSION, VERSION } from '../../config/version.ts'
import { readDisk } from '../../doctor/check-disk.ts'
import { checkReplication } from '../../doctor/check-replication.ts'
import type { Finding } from '../../doctor/finding.ts'
import { readReplication } from '../../doctor/replication.ts'
import { availableMemory, totalMemory } from '../../parts/process/available-memory.ts'
import { reasonOf } from '../../parts/reason.ts'
import type { Services } from '../services.ts'

type Facts = Pick<Services, 'config' | 'health' | 'now' | 'proxyWatch'>

/** The state of the process and its machine. Sizes are in bytes, times in epoch milliseconds. */
export async function readSystem({ config, health, now, proxyWatch }: Facts) {
  const { rss, heapUsed } = process.memoryUsage()
  const proxy = proxyWatch.found()
  return {
    health: await health.read(),
    version: VERSION,
    interfaceVersion: INTERFACE_VERSION,
    runtime: runtimeText(process.versions),
    memory: { process: rss, heap: heapUsed, available: availableMemory(), total: totalMemory() },
    disk: diskOf(config.dataDir),
    dataDir: config.dataDir,
    backups: await backupsOf(config.backupDir),
    backupDir: config.backupDir,
    /** The warning about a proxy that is not trusted; null if none was seen. */
    proxyWarning: proxy === null ? null : `${proxyProblem(proxy)}; ${PROXY_ADVICE}`,
    /** Whether Litestream's copy is complete; null if it does not copy the database. */
    copy: config.replicated ? await copyOf(config.dataDir, now) : null,
  }
}

/** Returns the reason instead if the disk cannot be read. */
function diskOf(dataDir: string): ReturnType<typeof readDisk> | { readonly problem: string } {
  try {
    return readDisk(dataDir)
  } catch (error) {
    return { problem: reasonOf(error) }
  }
}

async function copyOf(dataDir: string, now: () => number): Promise<Finding> {
  const replication = await readReplication(dataDir)
  return checkReplication(replication, now())
}

const SHOWN_BACKUPS = 5

async function backupsOf(directory: string): Promise<{ latest: Backup[]; count: number }> {
  const all = await listBackups(directory)
  return { latest: all.slice(0, SHOWN_BACKUPS), count: all.length }
}
