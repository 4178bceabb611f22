import type { KeptBeacon } from './beacon.ts'
import { errorHash, type PageError } from './page-error.ts'
import type { ErrorGroup, RumStore } from './store.ts'

/** The errors of an hour that are not written yet, and the hashes of all that there are. */
export interface ErrorHour {
  readonly hashes: Set<string>
  readonly groups: Map<string, ErrorGroup>
}

/** An hour of a site has so many kinds of errors; the others are one. */
const MAX_GROUPS = 200
const OTHERS: PageError = { message: '(other errors)' }
const OTHERS_HASH = ''

export function loadErrorHour(store: RumStore, siteId: string, hour: number): ErrorHour {
  return { hashes: new Set(store.listErrorHashes(siteId, hour)), groups: new Map() }
}

export function foldErrors(hour: ErrorHour, { errors, path }: KeptBeacon, at: number): void {
  for (const error of errors) {
    const own = errorHash(error)
    const isOwn = hour.hashes.has(own) || !isFull(hour)
    const sample = isOwn ? { ...error, ...(path !== undefined && { path }) } : OTHERS
    const group = findGroup(hour, { hash: isOwn ? own : OTHERS_HASH, sample, at })
    group.count += 1
    group.lastAt = at
  }
}

function isFull({ hashes }: ErrorHour): boolean {
  return hashes.size - (hashes.has(OTHERS_HASH) ? 1 : 0) >= MAX_GROUPS
}

interface Found extends Pick<ErrorGroup, 'hash' | 'sample'> {
  readonly at: number
}

function findGroup({ hashes, groups }: ErrorHour, { hash, sample, at }: Found): ErrorGroup {
  const known = groups.get(hash)
  if (known !== undefined) return known
  const group = { hash, count: 0, firstAt: at, lastAt: at, sample }
  hashes.add(hash)
  groups.set(hash, group)
  return group
}

export function saveErrors(
  store: RumStore,
  { siteId, hour }: { readonly siteId: string; readonly hour: number },
  { groups }: ErrorHour,
): void {
  for (const group of groups.values()) store.addErrors(siteId, hour, group)
}
