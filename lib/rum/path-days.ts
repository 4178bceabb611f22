import type { Measures } from './measures.ts'
import { decodeMeasures, encodeMeasures } from './measures-blob.ts'
import type { RumStore } from './store.ts'

export interface PathRow {
  samples: number
  readonly measures: Measures
}

/** The pages of a day that have changed, and the names of all that there are. */
export interface PathDay {
  readonly names: Set<string>
  readonly rows: Map<string, PathRow>
}

export interface DayKey {
  readonly siteId: string
  /** Since 1970-01-01, UTC. */
  readonly day: number
}

/** A day of a site has so many pages; the others are one. */
export const MAX_PATHS = 500
export const OTHER_PATHS = '(other)'

export function loadPathDay(store: RumStore, { siteId, day }: DayKey): PathDay {
  return { names: new Set(store.listPaths(siteId, day)), rows: new Map() }
}

export function pathRow(store: RumStore, key: DayKey, paths: PathDay, path: string): PathRow {
  const hasPlace = paths.names.has(path) || paths.names.size < MAX_PATHS
  const name = hasPlace ? path : OTHER_PATHS
  const known = paths.rows.get(name)
  if (known !== undefined) return known
  const stored = store.findPath(key.siteId, key.day, name)
  const measures = stored === undefined ? {} : decodeMeasures(stored.sketches)
  const row = { samples: stored?.samples ?? 0, measures }
  paths.names.add(name)
  paths.rows.set(name, row)
  return row
}

export function savePaths(store: RumStore, { siteId, day }: DayKey, { rows }: PathDay): void {
  for (const [path, { samples, measures }] of rows) {
    store.savePath(siteId, day, path, { samples, sketches: encodeMeasures(measures) })
  }
}
