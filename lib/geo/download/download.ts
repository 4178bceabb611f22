import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findSources, hasAccount, type Providers, type Source } from './download-sources.ts'
import { type FetchOptions, fetchFile, isUnchanged } from './fetch-file.ts'
import { removeAbandoned } from './file-swap.ts'
import { failedRequest, fetchText } from './http-request.ts'
import { type Done, findCurrent, installArchive } from './install-archive.ts'
import { noteDownload } from './last-download.ts'
import { removePartial } from './partial-file.ts'
import type { OnProgress } from './prepare.ts'

export interface DownloadOptions extends Providers {
  /** Epoch milliseconds. */
  readonly now: number
  readonly onProgress: OnProgress
  /** How long to wait for the next byte; half a minute unless told. */
  readonly idleMs?: number
}

interface Failed {
  readonly outcome: 'failed'
  readonly reason: string
}

export type Downloaded = { readonly name: string } & (Done | Failed)

/**
 * Fetches the providers' own files into `directory`, where they take the place of bundled ones.
 * Each for itself: what fails leaves the file that is there, and the next call continues what was
 * interrupted.
 */
export async function downloadAll(
  directory: string,
  options: DownloadOptions,
): Promise<Downloaded[]> {
  await mkdir(directory, { recursive: true })
  await removeAbandoned(directory)
  const results: Downloaded[] = []
  for (const source of findSources(options, options.now)) {
    const { name } = source
    try {
      results.push({ name, ...(await download(directory, source, options)) })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      results.push({ name, outcome: 'failed', reason })
    }
  }
  const isWhole = results.every(({ outcome }) => outcome !== 'failed')
  if (isWhole && hasAccount(options)) await noteDownload(directory, options.now)
  return results
}

async function download(
  directory: string,
  source: Source,
  { onProgress, idleMs }: DownloadOptions,
): Promise<Done> {
  const current = await findCurrent(join(directory, source.file))
  const archive = join(directory, `.download-${source.archive}`)
  const options = {
    headers: source.headers,
    idleMs,
    modifiedSince: current?.modifiedAt,
    onShare: (share: number) => onProgress(`Download ${source.name}`, share),
  }
  // Of MaxMind, this does not count towards the downloads of the day.
  const [url] = source.urls
  if (url !== undefined && (await isUnchanged(url, options))) return { outcome: 'up-to-date' }
  const checksum = await fetchChecksum(source, options)
  const fetched = await fetchArchive(archive, source, options)
  try {
    if (fetched.outcome === 'not-modified') return { outcome: 'up-to-date' }
    const { modifiedAt } = fetched
    return await installArchive(archive, { directory, source, current, checksum, modifiedAt })
  } finally {
    await removePartial(archive)
  }
}

async function fetchChecksum(source: Source, options: FetchOptions): Promise<string | undefined> {
  const { checksumUrl } = source
  if (checksumUrl === undefined) return undefined
  const answer = await fetchText(checksumUrl, options)
  if (typeof answer === 'number') throw refusal(checksumUrl, answer, source)
  const checksum = /^[0-9a-f]{64}\b/i.exec(answer.trim())?.[0]
  if (checksum !== undefined) return checksum.toLowerCase()
  throw failedRequest(checksumUrl, new Error('the answer is no SHA-256'))
}

/** The first of the source's files that is there. */
async function fetchArchive(archive: string, source: Source, options: FetchOptions) {
  for (const [at, url] of source.urls.entries()) {
    const fetched = await fetchFile(url, archive, options)
    if (fetched.outcome !== 'refused') return fetched
    const isLast = at === source.urls.length - 1
    if (fetched.status !== 404 || isLast) throw refusal(url, fetched.status, source)
  }
  throw new Error(`Cannot download ${source.name}: it has no URL`)
}

function refusal(url: string, status: number, { hints }: Source): Error {
  const hint = hints.get(status)
  const answer = `the server answered ${status}`
  return failedRequest(url, new Error(hint === undefined ? answer : `${answer}: ${hint}`))
}
