import { type LiveRow, toLiveRow } from './row.ts'
import type { RumStore } from './store.ts'

/** The pages of a day that have lately changed, and the names of all that there are. */
export interface PathDay {
  readonly names: Set<string>
  readonly rows: Map<string, LiveRow>
}

export interface SiteDay {
  readonly siteId: string
  /** Since 1970-01-01, UTC. */
  readonly day: number
}

/** A day of a site has so many pages; the others are one. */
const MAX_PATHS = 500
const OTHER_PATHS = '(other)'

export function loadPathDay(store: RumStore, { siteId, day }: SiteDay): PathDay {
  return { names: new Set(store.listPaths(siteId, day)), rows: new Map() }
}

export function pathRow(store: RumStore, key: SiteDay, paths: PathDay, path: string): LiveRow {
  const isFull = paths.names.size - (paths.names.has(OTHER_PATHS) ? 1 : 0) >= MAX_PATHS
  const hasPlace = !isFull || paths.names.has(path)
  const name = hasPlace ? path : OTHER_PATHS
  const known = paths.rows.get(name)
  if (known !== undefined) return known
  const row = toLiveRow(store.findPath(key.siteId, key.day, name))
  paths.names.add(name)
  paths.rows.set(name, row)
  return row
}
