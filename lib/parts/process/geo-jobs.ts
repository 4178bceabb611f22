import { HOUR_MS, MINUTE_MS } from '../durations.ts'
import type { Log } from '../log/log.ts'
import { MB } from '../size-text.ts'
import { availableMemory } from './available-memory.ts'
import { createRunScript } from './run-script.ts'

/** Peak memory of combining the databases, with a reserve for larger ones than the bundled set. */
const ATLAS_BYTES = 300 * MB
/** Enough for a geofeed of the largest accepted size. */
const GEOFEEDS_HEAP_MB = 384
/** After this long, a download from a provider that sends very slowly is ended. */
const DOWNLOAD_TIMEOUT_MS = 6 * HOUR_MS

/**
 * Returns jobs on the geolocation databases. Each runs in a low-priority process of its own, rejects
 * with the error of that process, and ends when `stopping` is aborted.
 */
export function createGeoJobs(log: Log, stopping: AbortSignal, findMemory = availableMemory) {
  const runGeo = async (
    option: string,
    signal = stopping,
    options?: Parameters<typeof createRunScript>[1],
  ) => {
    try {
      await createRunScript(signal, options)('geo', option, '--until-stdin-ends')
    } catch (error) {
      if (!stopping.aborted) throw error
    }
  }
  return {
    /** Waits for enough memory, then combines the databases into the atlas within about half a minute. */
    compileAtlas: async () => {
      await waitForMemory(findMemory, log)
      await runGeo('--atlas')
      if (!stopping.aborted) log.info({}, 'databases combined into one index')
    },
    /** Installs the providers' new databases, with these settings besides those of this process. */
    downloadGeo: (settings: Readonly<Record<string, string>>) => {
      const timeout = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS)
      return runGeo('--update', AbortSignal.any([stopping, timeout]), { settings })
    },
    /** Fetches and compiles the geofeeds. */
    updateGeofeeds: () => runGeo('--geofeeds', stopping, { heapMb: GEOFEEDS_HEAP_MB }),
  }
}

/** Checks again every minute, without keeping the process alive. */
async function waitForMemory(findMemory: () => number, log: Log): Promise<void> {
  const available = findMemory()
  if (available >= ATLAS_BYTES) return
  log.info(
    { availableMb: Math.floor(available / MB), neededMb: ATLAS_BYTES / MB },
    'waiting for memory to combine the databases into one index; look-ups are slower',
  )
  do await new Promise((resolve) => setTimeout(resolve, MINUTE_MS).unref())
  while (findMemory() < ATLAS_BYTES)
}
