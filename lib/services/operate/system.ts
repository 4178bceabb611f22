import { type Backup, listBackups } from '../../backup/backup-folder.ts'
import { runtimeText } from '../../config/runtime.ts'
import { INTERFACE_VERSION, VERSION } from '../../config/version.ts'
import { readDisk } from '../../doctor/check-disk.ts'
import { availableMemory, totalMemory } from '../../process/available-memory.ts'
import { reasonOf } from '../../reason.ts'
import type { Services } from '../services.ts'

/** How the process and its machine are. Sizes are in bytes, times in epoch milliseconds. */
export async function readSystem({ config, health }: Pick<Services, 'config' | 'health'>) {
  const { rss, heapUsed } = process.memoryUsage()
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
    /** Whether Litestream copies the database; how far it is, only Litestream knows. */
    isReplicated: config.replicated,
  }
}

/** null if the system cannot tell. */
function diskOf(dataDir: string): ReturnType<typeof readDisk> | { readonly problem: string } {
  try {
    return readDisk(dataDir)
  } catch (error) {
    return { problem: reasonOf(error) }
  }
}

const SHOWN_BACKUPS = 5

async function backupsOf(directory: string): Promise<{ latest: Backup[]; count: number }> {
  const all = await listBackups(directory)
  return { latest: all.slice(0, SHOWN_BACKUPS), count: all.length }
}
