import type { KeptBeacon } from './beacon.ts'
import { errorHash, type PageError } from './page-error.ts'
import type { ErrorGroup, RumStore } from './store.ts'

/** The errors of an hour that are not written yet, and the hashes of all that there are. */
export interface ErrorHour {
  readonly hashes: Set<string>
  readonly groups: Map<string, ErrorGroup>
}

/** An hour of a site has so many kinds of errors; the others are one. */
export const MAX_GROUPS = 200
const OTHERS: PageError = { message: '(other errors)' }
const OTHERS_HASH = ''

export function loadErrorHour(store: RumStore, siteId: string, hour: number): ErrorHour {
  return { hashes: new Set(store.listErrorHashes(siteId, hour)), groups: new Map() }
}

export function foldErrors(hour: ErrorHour, { errors, path }: KeptBeacon, at: number): void {
  for (const error of errors) {
    const own = errorHash(error)
    const hasPlace = hour.hashes.has(own) || hour.hashes.size < MAX_GROUPS
    const hash = hasPlace ? own : OTHERS_HASH
    const group = hour.groups.get(hash)
    if (group !== undefined) {
      group.count += 1
      group.lastAt = at
      continue
    }
    const sample = hasPlace ? { ...error, ...(path !== undefined && { path }) } : OTHERS
    hour.hashes.add(hash)
    hour.groups.set(hash, { hash, count: 1, firstAt: at, lastAt: at, sample })
  }
}

export function saveErrors(
  store: RumStore,
  { siteId, hour }: { readonly siteId: string; readonly hour: number },
  { groups }: ErrorHour,
): void {
  for (const group of groups.values()) store.addErrors(siteId, hour, group)
}
