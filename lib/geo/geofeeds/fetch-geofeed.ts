import { readFile, stat } from 'node:fs/promises'
import { isUrl } from '../../config/geofeed-setting.ts'
import { MINUTE_MS } from '../../parts/durations.ts'
import { TooLarge } from '../download/at-most.ts'
import { fetchFile } from '../download/fetch-file.ts'
import { failedRequest } from '../download/http-request.ts'
import { removeFetched } from '../download/partial-file.ts'

/** Ends the download from a server that sends very slowly. */
const TIMEOUT_MS = 10 * MINUTE_MS

/** The largest known geofeed has 14 MB. */
const MAX_BYTES = 32 * 1024 * 1024

/** A version of a geofeed. */
interface GeofeedVersion {
  readonly bytes: Buffer
  /** Last-Modified in epoch milliseconds, if a server stated it. */
  readonly modifiedAt?: number | undefined
}

interface FetchOptions {
  /** Where to keep a download until it is complete. */
  readonly path: string
  /** What to return if the server has no newer version. */
  readonly stored: GeofeedVersion | undefined
  readonly idleMs?: number | undefined
  readonly onShare: (share: number) => void
}

/** Reads the newest version of a geofeed from its URL or file. Throws with the reason if it cannot be read. */
export async function fetchGeofeed(
  source: string,
  { path, stored, idleMs, onShare }: FetchOptions,
): Promise<GeofeedVersion> {
  if (!isUrl(source)) return { bytes: await readLocal(source) }
  const fetched = await fetchFile(source, path, {
    idleMs,
    modifiedSince: stored?.modifiedAt,
    onShare,
    most: MAX_BYTES,
    limitMs: TIMEOUT_MS,
  })
  if (fetched.outcome === 'not-modified' && stored !== undefined) return stored
  if (fetched.outcome !== 'complete') {
    const status = 'status' in fetched ? fetched.status : 304
    throw failedRequest(source, new Error(`the server answered ${status}`))
  }
  try {
    return { bytes: await readFile(path), modifiedAt: fetched.modifiedAt }
  } finally {
    await removeFetched(path)
  }
}

async function readLocal(path: string): Promise<Buffer> {
  const { size } = await stat(path)
  if (size > MAX_BYTES) throw new TooLarge(MAX_BYTES)
  return readFile(path)
}
