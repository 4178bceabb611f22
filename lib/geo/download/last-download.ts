import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { replaceFile } from '../files/replace-file.ts'

const NAME = 'downloads.json'

const State = v.object({ succeededAt: v.pipe(v.string(), v.isoTimestamp()) })

/** Records a successful download from all providers. */
export async function noteDownload(directory: string, now: number): Promise<void> {
  const state = { succeededAt: new Date(now).toISOString() }
  await replaceFile(directory, NAME, (partial) => writeFile(partial, JSON.stringify(state)))
}

/**
 * The time of the last successful download in epoch milliseconds; 0 if there was none. A time in
 * the future comes from a wrong clock and would delay the next download, so it counts as 0.
 */
export function findLastDownload(directory: string, now: number): number {
  try {
    const text = readFileSync(join(directory, NAME), 'utf8')
    const succeededAt = Date.parse(v.parse(State, JSON.parse(text)).succeededAt)
    return succeededAt <= now ? succeededAt : 0
  } catch {
    return 0 // missing or damaged
  }
}
