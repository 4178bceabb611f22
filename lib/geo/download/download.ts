import { join } from 'node:path'
import type { OnProgress } from '../files/prepare.ts'
import { makeFolder, removeAbandoned } from '../files/replace-file.ts'
import { reasonOfFailure } from './failure.ts'
import { type FetchOptions, fetchFile, isUnchanged } from './fetch-file.ts'
import { failedRequest, fetchText } from './http-request.ts'
import { findCurrent, type Installed, installArchive } from './install-archive.ts'
import { noteDownload } from './last-download.ts'
import { removeFetched } from './partial-file.ts'
import { type DownloadSource, downloadSources, hasAccount, type Providers } from './sources.ts'

export interface DownloadOptions extends Providers {
  /** Epoch milliseconds. */
  readonly now: number
  readonly onProgress: OnProgress
  /** How long to wait for more data; default: half a minute. */
  readonly idleMs?: number
}

export type Downloaded = { readonly name: string } & (
  | Installed
  | { readonly outcome: 'failed'; readonly reason: string }
)

/**
 * Downloads the providers' files into `directory`, where they replace the bundled ones. If a download
 * fails, the existing file stays in use, the other downloads go on, and the next call resumes the failed one.
 */
export async function downloadAll(
  directory: string,
  options: DownloadOptions,
): Promise<Downloaded[]> {
  await makeFolder(directory)
  removeAbandoned(directory)
  const results: Downloaded[] = []
  for (const source of downloadSources(options, options.now)) {
    const { name } = source
    try {
      results.push({ name, ...(await download(directory, source, options)) })
    } catch (error) {
      results.push({
        name,
        outcome: 'failed',
        reason: reasonOfFailure(join(directory, source.file), error),
      })
    }
  }
  const succeeded = results.every(({ outcome }) => outcome !== 'failed')
  if (succeeded && hasAccount(options)) await noteDownload(directory, options.now)
  return results
}

async function download(
  directory: string,
  source: DownloadSource,
  { onProgress, idleMs }: DownloadOptions,
): Promise<Installed> {
  const current = await findCurrent(join(directory, source.file))
  const archive = join(directory, `.download-${source.archive}`)
  const options = {
    headers: source.headers,
    idleMs,
    // A copy or backup may have changed the time of the file.
    modifiedSince: current && Math.min(current.modifiedAt, current.builtAt),
    knownAt: current?.modifiedAt,
    onShare: (share: number) => onProgress(`Download ${source.name}`, share),
  }
  // MaxMind does not count this request towards the daily download limit.
  const [url] = source.urls
  if (url !== undefined && (await isUnchanged(url, options))) return { outcome: 'up-to-date' }
  const checksum = await fetchChecksum(source, options)
  const fetched = await fetchArchive(archive, source, options)
  try {
    if (fetched.outcome === 'not-modified') return { outcome: 'up-to-date' }
    const { modifiedAt } = fetched
    return await installArchive(archive, { directory, source, current, checksum, modifiedAt })
  } finally {
    await removeFetched(archive)
  }
}

async function fetchChecksum(
  source: DownloadSource,
  options: FetchOptions,
): Promise<string | undefined> {
  const { checksumUrl } = source
  if (checksumUrl === undefined) return undefined
  const text = await fetchText(checksumUrl, options)
  if (typeof text === 'number') throw refusal(checksumUrl, text, source)
  const checksum = /^[0-9a-f]{64}\b/i.exec(text.trim())?.[0]
  if (checksum !== undefined) return checksum.toLowerCase()
  throw failedRequest(checksumUrl, new Error('the answer is not a SHA-256'))
}

/** Fetches the first of the source's URLs that exists. */
async function fetchArchive(archive: string, source: DownloadSource, options: FetchOptions) {
  for (const [at, url] of source.urls.entries()) {
    const fetched = await fetchFile(url, archive, options)
    if (fetched.outcome !== 'refused') return fetched
    const isLast = at === source.urls.length - 1
    if (fetched.status !== 404 || isLast) throw refusal(url, fetched.status, source)
  }
  throw new Error(`Cannot download ${source.name}: it has no URL`)
}

function refusal(url: string, status: number, { hints }: DownloadSource): Error {
  const hint = hints.get(status)
  const answer = `the server answered ${status}`
  return failedRequest(url, new Error(hint === undefined ? answer : `${answer}: ${hint}`))
}
