import { join } from 'node:path'
import * as v from 'valibot'
import { readState, sourceState, Time, writeState } from '../download/kept-source.ts'

const NAME = 'geofeeds.json'

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

const State = v.object({
  /** URL or path of the feed. */
  source: v.string(),
  ...sourceState,
  /** How many entries of the stored version are used: see `ReadGeofeed`. */
  entries: v.optional(Count),
  outside: v.optional(Count),
  bad: v.optional(Count),
  examples: v.optional(v.pipe(v.array(v.string()), v.readonly())),
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
  return readState(join(directory, NAME), States, { signature: '', updatedAt: 0, feeds: [] })
}

export function writeGeofeedStates(directory: string, states: GeofeedStates): Promise<void> {
  return writeState(directory, NAME, states)
}
