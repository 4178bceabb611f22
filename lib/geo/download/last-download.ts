import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { replaceFile } from './file-swap.ts'

const NAME = 'downloads.json'

const State = v.object({ succeededAt: v.pipe(v.string(), v.isoTimestamp()) })

/** Notes that all providers were asked, and what they had was installed. */
export async function noteDownload(directory: string, now: number): Promise<void> {
  const state = { succeededAt: new Date(now).toISOString() }
  await replaceFile(directory, NAME, (partial) => writeFile(partial, JSON.stringify(state)))
}

/**
 * When that was the last time, in epoch milliseconds; 0: never. A time to come is none: it was told
 * by a clock that was wrong, and would be waited for.
 */
export function findLastDownload(directory: string, now: number): number {
  try {
    const text = readFileSync(join(directory, NAME), 'utf8')
    const succeededAt = Date.parse(v.parse(State, JSON.parse(text)).succeededAt)
    return succeededAt <= now ? succeededAt : 0
  } catch {
    return 0 // no file, or one that nobody can read: the providers are asked
  }
}
