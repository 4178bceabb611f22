import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Geofeed, type GeofeedSetting, isUrl } from '../../config/geofeed-setting.ts'
import { openDatabase } from '../database.ts'
import { reasonOfFailure } from '../download/failure.ts'
import type { FetchedNetworks, NetworksOptions } from '../download/fetched-networks.ts'
import { PREPARED } from '../files/prepare.ts'
import { readRegions } from '../files/regions.ts'
import { makeFolder, replaceFile } from '../files/replace-file.ts'
import { OPTIONAL } from '../files/source-files.ts'
import { checkSize } from '../network-lists/read-networks.ts'
import { compileGeofeeds, type FeedWithEntries } from './compile-geofeeds.ts'
import { fetchGeofeed } from './fetch-geofeed.ts'
import { findGeofeeds, geofeedSignature } from './find-geofeeds.ts'
import { type GeofeedState, readGeofeedStates, writeGeofeedStates } from './geofeed-states.ts'
import { readGeofeed } from './read-geofeed.ts'
import { downloadPath, readStored, removeOtherGeofeeds, store } from './stored-geofeeds.ts'

/**
 * Fetches the geofeeds into `directory` and compiles them into one database. If a feed cannot be fetched or makes
 * no sense, its earlier version stays in use. Throws if a file of registry objects cannot be used.
 */
export async function updateGeofeeds(
  directory: string,
  settings: readonly GeofeedSetting[],
  options: NetworksOptions,
): Promise<FetchedNetworks[]> {
  const feeds = findGeofeeds(settings)
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
      : await compile(directory, updates, options)
  await writeGeofeedStates(directory, {
    // An update that failed to compile is repeated after the next start.
    signature: failures.length === 0 ? signature : '',
    updatedAt: options.now,
    feeds: updates.map(({ state }) => state),
  })
  return [...results, ...failures]
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

/** Compiles all feeds that have a usable version. Returns only what failed. */
async function compile(
  directory: string,
  updates: readonly Update[],
  { now }: NetworksOptions,
): Promise<FetchedNetworks[]> {
  const path = join(directory, OPTIONAL.geofeeds)
  try {
    const feeds = updates.flatMap(({ used }) => used ?? [])
    if (feeds.length === 0) {
      await rm(path, { force: true })
      return []
    }
    const regionNames = readRegions(join(directory, PREPARED.regions))
    const bytes = compileGeofeeds(feeds, { builtAt: now, regionNames })
    await replaceFile(directory, OPTIONAL.geofeeds, async (partial) => {
      await writeFile(partial, bytes)
      await openDatabase(partial, { map: false, regionCode: () => undefined })
    })
    return []
  } catch (error) {
    const reason = reasonOfFailure(path, error)
    return [{ name: 'Compiled geofeeds', outcome: 'failed', reason }]
  }
}
