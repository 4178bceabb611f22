import { join } from 'node:path'
import * as v from 'valibot'
import { readState, writeState } from './kept-source.ts'

const NAME = 'downloads.json'

const Succeeded = v.object({ succeededAt: v.pipe(v.string(), v.isoTimestamp()) })

/** Records a successful download from all providers. */
export async function noteDownload(directory: string, now: number): Promise<void> {
  await writeState(directory, NAME, { succeededAt: new Date(now).toISOString() })
}

/**
 * The time of the last successful download in epoch milliseconds; 0 if there was none. A time in
 * the future comes from a wrong clock and would delay the next download, so it counts as 0.
 */
export function findLastDownload(directory: string, now: number): number {
  const none = { succeededAt: new Date(0).toISOString() }
  const succeededAt = Date.parse(readState(join(directory, NAME), Succeeded, none).succeededAt)
  return succeededAt <= now ? succeededAt : 0
}
