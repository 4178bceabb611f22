import { join } from 'node:path'
import type { OnProgress } from '../files/prepare.ts'
import { makeFolder, removeAbandoned } from '../files/replace-file.ts'
import { reasonOfFailure } from './failure.ts'
import { type FetchOptions, fetchFile, isUnchanged } from './fetch-file.ts'
import { failedRequest, fetchText } from './http-request.ts'
import { findCurrent, type Installed, installArchive } from './install-archive.ts'
import { noteDownload } from './last-download.ts'
import { removeFetched } from './partial-file.ts'
import { type DownloadSource, downloadSources, type Providers } from './sources.ts'

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
  if (succeeded) await noteDownload(directory, options.now)
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
  for (const { url, builtSince = Number.POSITIVE_INFINITY } of source.offers) {
    if (current !== undefined && current.builtAt >= builtSince) break
    const fetched = await fetchOffer(url, archive, source, options)
    if (fetched.outcome === 'not-modified') break
    if (fetched.outcome === 'missing') continue
    try {
      return await installArchive(archive, { directory, source, current, ...fetched })
    } finally {
      await removeFetched(archive)
    }
  }
  return { outcome: 'up-to-date' }
}

/** Fetches the archive at `url`. `missing`: it is not published yet, but another one may be. */
async function fetchOffer(
  url: string,
  archive: string,
  source: DownloadSource,
  options: FetchOptions,
) {
  // MaxMind does not count this request towards the daily download limit.
  if (await isUnchanged(url, options)) return { outcome: 'not-modified' } as const
  const checksum = await fetchChecksum(source, options)
  const fetched = await fetchFile(url, archive, options)
  if (fetched.outcome === 'not-modified') await removeFetched(archive)
  if (fetched.outcome !== 'refused') return { ...fetched, checksum }
  const isLast = url === source.offers.at(-1)?.url
  if (fetched.status !== 404 || isLast) throw refusal(url, fetched.status, source)
  return { outcome: 'missing' } as const
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

function refusal(url: string, status: number, { hints }: DownloadSource): Error {
  const hint = hints.get(status)
  const answer = `the server answered ${status}`
  return failedRequest(url, new Error(hint === undefined ? answer : `${answer}: ${hint}`))
}
