import { lookup } from 'node:dns/promises'
import { readFile, stat } from 'node:fs/promises'
import { isUrl } from '../../config/geofeed-setting.ts'
import { MINUTE_MS } from '../../parts/durations.ts'
import { parseAddress } from '../../parts/net/address.ts'
import { isPublic } from '../../parts/net/public-address.ts'
import { TooLarge } from '../download/at-most.ts'
import { fetchFile } from '../download/fetch-file.ts'
import { failedRequest, type Send } from '../download/http-request.ts'
import { removeFetched } from '../download/partial-file.ts'

const MAX_REDIRECTS = 5
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
    send: followPublicRedirects,
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

/**
 * Sends a request. Follows redirects within the origin, and to https on public addresses. Throws at any other:
 * the publisher of a geofeed must not make this server read from its private network.
 */
const followPublicRedirects: Send = async (url, init) => {
  const limit = AbortSignal.timeout(TIMEOUT_MS)
  const signal = init.signal == null ? limit : AbortSignal.any([init.signal, limit])
  let from = new URL(url)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(from, { ...init, signal, redirect: 'manual' })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    from = await targetOf(from, location)
  }
  throw new Error(`it is redirected more than ${MAX_REDIRECTS} times`)
}

async function targetOf(from: URL, location: string): Promise<URL> {
  const to = URL.parse(location, from.href)
  if (to !== null && to.origin === from.origin) return to
  if (to?.protocol !== 'https:' || to.username !== '' || !(await isPublicHost(to.hostname))) {
    throw new Error(`it is redirected to "${location}", which is not https on a public address`)
  }
  return to
}

async function isPublicHost(hostname: string): Promise<boolean> {
  const found = await lookup(hostname.replaceAll(/[[\]]/g, ''), { all: true })
  const addresses = found.map(({ address }) => parseAddress(address))
  return addresses.every((address) => address !== null && isPublic(address))
}
