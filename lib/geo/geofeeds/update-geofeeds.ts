import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Geofeed, type GeofeedSetting, isUrl } from '../../config/geofeed-setting.ts'
import { codeOf } from '../../parts/reason.ts'
import { reasonOfFailure } from '../download/failure.ts'
import type { FetchedNetworks, NetworksOptions } from '../download/fetched-networks.ts'
import { updateCompiled } from '../download/kept-source.ts'
import { PREPARED } from '../files/prepare.ts'
import { readRegionNames } from '../files/regions.ts'
import { makeFolder, replaceFile } from '../files/replace-file.ts'
import { OPTIONAL } from '../files/source-files.ts'
import { checkSize } from '../network-lists/read-networks.ts'
import { compileGeofeeds, type FeedWithEntries } from './compile-geofeeds.ts'
import { fetchGeofeed } from './fetch-geofeed.ts'
import { findGeofeeds, geofeedSignature } from './find-geofeeds.ts'
import { type GeofeedState, readGeofeedStates, writeGeofeedStates } from './geofeed-states.ts'
import { readGeofeed } from './read-geofeed.ts'

/** Names of accepted versions, and of their downloads. */
const STORED_NAME = /^(?:\.download-)?(geofeed-[\da-f]{12})(?:\.json)?$/

const COMPILED = { file: OPTIONAL.geofeeds, name: 'Compiled geofeeds' }

/**
 * Fetches the geofeeds into `directory` and compiles them into one database. If a feed cannot be fetched or makes
 * no sense, its earlier version stays in use. Throws if a file of registry objects cannot be used.
 */
export async function updateGeofeeds(
  directory: string,
  settings: readonly GeofeedSetting[],
  options: NetworksOptions,
): Promise<FetchedNetworks[]> {
  const skipped: FetchedNetworks[] = []
  const feeds = findGeofeeds(settings, (reason) =>
    skipped.push({ name: 'Registry objects', outcome: 'failed', reason }),
  )
  const signature = geofeedSignature(settings)
  await makeFolder(directory)
  await removeOtherGeofeeds(directory, feeds)
  const before = readGeofeedStates(directory)
  const updates: Update[] = []
  for (const feed of feeds) {
    const state = before.feeds.find(({ source }) => source === feed.source)
    updates.push(await update(directory, { feed, state }, options))
  }
  const results = updates.map(({ result }) => result)
  const isSame = results.every(({ outcome }) => outcome !== 'accepted')
  const isCompiled = existsSync(join(directory, OPTIONAL.geofeeds))
  const failures =
    isSame && isCompiled && signature === before.signature
      ? []
      : await updateCompiled(directory, COMPILED, () => compile(directory, updates, options.now))
  await writeGeofeedStates(directory, {
    // An update that failed to compile is repeated after the next start.
    signature: failures.length === 0 ? signature : '',
    updatedAt: options.now,
    feeds: updates.map(({ state }) => state),
  })
  return [...skipped, ...results, ...failures]
}

interface Update {
  readonly result: FetchedNetworks
  readonly state: GeofeedState
  /** The feed as it is now used; undefined: no version is usable. */
  readonly used: FeedWithEntries | undefined
}

interface FeedWithState {
  readonly feed: Geofeed
  readonly state: GeofeedState | undefined
}

async function update(
  directory: string,
  { feed, state: before }: FeedWithState,
  options: NetworksOptions,
): Promise<Update> {
  const { source, blocks } = feed
  const stored = await readStored(directory, source).catch(() => undefined)
  try {
    const newest = await readNewest(directory, { feed, state: before, stored }, options)
    const { entries, ...counts } = newest.read
    const result = newest.isNew
      ? { name: source, outcome: 'accepted' as const, networks: entries.length }
      : { name: source, outcome: 'up-to-date' as const }
    const { modifiedAt } = newest
    const state = { source, checkedAt: options.now, modifiedAt, entries: entries.length, ...counts }
    return { result, state, used: { blocks, entries } }
  } catch (error) {
    const reason = reasonOfFailure(join(directory, OPTIONAL.geofeeds), error)
    const entries = readEarlier(stored, blocks)
    // Without the time of the stored version, the next update fetches the feed again.
    const { modifiedAt: _, ...state } = before ?? {}
    return {
      result: { name: source, outcome: 'failed', reason },
      state: { ...(entries && state), source, failure: { at: options.now, reason } },
      used: entries && { blocks, entries },
    }
  }
}

/** The entries of the stored version within the blocks; undefined if it is not usable. */
function readEarlier(stored: Buffer | undefined, blocks: Geofeed['blocks']) {
  try {
    return stored && readGeofeed(stored, blocks).entries
  } catch {
    return undefined
  }
}

/** Reads the newest version, and stores it if it is another one. */
async function readNewest(
  directory: string,
  { feed, state, stored }: FeedWithState & { readonly stored: Buffer | undefined },
  { acceptSmaller, idleMs, onProgress }: NetworksOptions,
) {
  const { source, blocks } = feed
  const { bytes, modifiedAt } = await fetchGeofeed(source, {
    path: downloadPath(directory, source),
    stored: stored && { bytes: stored, modifiedAt: state?.modifiedAt },
    idleMs,
    onShare: (share) => onProgress(`Download ${source}`, share),
  })
  const isNew = stored === undefined || !stored.equals(bytes)
  // An operator's own file may shrink, because the operator has written it.
  const mayShrink = !isNew || !isUrl(source) || acceptSmaller
  const before = mayShrink ? undefined : readEarlier(stored, blocks)?.length
  const read = readGeofeed(bytes, blocks)
  checkSize(read.entries.length, before)
  if (isNew) await store(directory, source, bytes)
  return { read, isNew, modifiedAt }
}

/** Compiles all feeds that have a usable version; undefined if none has. */
async function compile(
  directory: string,
  updates: readonly Update[],
  now: number,
): Promise<Uint8Array | undefined> {
  const feeds = updates.flatMap(({ used }) => used ?? [])
  if (feeds.length === 0) return undefined
  const regionNames = readRegionNames(join(directory, PREPARED.regions))
  return compileGeofeeds(feeds, { builtAt: now, regionNames })
}

/** Where a geofeed is kept until it is complete. */
function downloadPath(directory: string, source: string): string {
  return join(directory, `.download-${storedName(source)}`)
}

/** Reads the last accepted version of a geofeed; undefined if there is none. */
export async function readStored(directory: string, source: string): Promise<Buffer | undefined> {
  try {
    return await readFile(join(directory, storedName(source)))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

async function store(directory: string, source: string, bytes: Uint8Array): Promise<void> {
  await replaceFile(directory, storedName(source), (partial) => writeFile(partial, bytes))
}

/** Removes the files of all geofeeds but these. */
async function removeOtherGeofeeds(directory: string, feeds: readonly Geofeed[]): Promise<void> {
  const names = new Set(feeds.map(({ source }) => storedName(source)))
  for (const name of await readdir(directory)) {
    const stored = STORED_NAME.exec(name)?.[1]
    if (stored !== undefined && !names.has(stored)) await rm(join(directory, name), { force: true })
  }
}

function storedName(source: string): string {
  return `geofeed-${hash('sha256', source).slice(0, 12)}`
}
