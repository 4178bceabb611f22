import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { replaceFile } from '../files/replace-file.ts'

const NAME = 'geofeeds.json'

const Time = v.pipe(v.number(), v.integer(), v.minValue(0))
const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

const State = v.object({
  /** URL or path of the feed. */
  source: v.string(),
  /** When the stored version was last up to date; absent if none is stored. */
  checkedAt: v.optional(Time),
  /** Last-Modified of the stored version. */
  modifiedAt: v.optional(Time),
  /** How many entries of the stored version are used: see `ReadGeofeed`. */
  entries: v.optional(Count),
  outside: v.optional(Count),
  bad: v.optional(Count),
  examples: v.optional(v.pipe(v.array(v.string()), v.readonly())),
  /** Why the last update failed or was refused; absent if it succeeded. */
  failure: v.optional(v.object({ at: Time, reason: v.string() })),
})
/** The result of the last updates of a geofeed. Times are epoch milliseconds. */
export type GeofeedState = v.InferOutput<typeof State>

const States = v.object({
  /** The settings and files of the last update: see `geofeedSignature`. */
  signature: v.string(),
  updatedAt: Time,
  feeds: v.array(State),
})
export type GeofeedStates = v.InferOutput<typeof States>

/** Reads the states in order of the settings. A missing or damaged file has none. */
export function readGeofeedStates(directory: string): GeofeedStates {
  try {
    return v.parse(States, JSON.parse(readFileSync(join(directory, NAME), 'utf8')))
  } catch {
    return { signature: '', updatedAt: 0, feeds: [] }
  }
}

export async function writeGeofeedStates(directory: string, states: GeofeedStates): Promise<void> {
  const json = `${JSON.stringify(states, null, 2)}\n`
  await replaceFile(directory, NAME, (partial) => writeFile(partial, json))
}
