import { open } from 'node:fs/promises'
import { atMost, MAX_ARCHIVE_BYTES, TooLarge } from './at-most.ts'
import {
  failedRequest,
  type Idle,
  type RequestOptions,
  request,
  watchIdle,
} from './http-request.ts'
import {
  findPartial,
  type PartialFile,
  readVersion,
  removeFetched,
  startPartial,
  timeOf,
  validatorOf,
} from './partial-file.ts'

export interface FetchOptions extends RequestOptions {
  /** Fetch the file only if it has changed since; epoch milliseconds. */
  readonly modifiedSince?: number | undefined
  /** Last-Modified of the file that is here, if that is known; another one is newer or older. */
  readonly knownAt?: number | undefined
  /** Called with the downloaded share, 0 to 1. */
  readonly onShare?: (share: number) => void
  /** The largest file to download, in bytes. */
  readonly most?: number
}

export type Fetched =
  /** `modifiedAt` in epoch milliseconds, if the server states it. */
  | { readonly outcome: 'complete'; readonly modifiedAt: number | undefined }
  | { readonly outcome: 'not-modified' }
  | { readonly outcome: 'refused'; readonly status: number }

/**
 * Downloads `url` to `path`. Resumes an interrupted download if the server still has the same file
 * (RFC 9110 sections 13.1.5 and 14). The caller checks the whole file and removes it with
 * `removeFetched`. Throws an error that names the URL and the reason.
 */
export async function fetchFile(
  url: string,
  path: string,
  options: FetchOptions,
): Promise<Fetched> {
  using idle = watchIdle(options.idleMs)
  const partial = await findPartial(path, url)
  const rest = await requestRest(url, partial, options, idle)
  const response = rest ?? (await request(url, withHeaders(options), idle))
  const { status, headers } = response
  const resumed = rest?.status === 206 ? partial : undefined
  if (status !== 200 && resumed === undefined) {
    await response.body?.cancel()
    const isSame = status === 304 && options.modifiedSince !== undefined
    return isSame ? { outcome: 'not-modified' } : { outcome: 'refused', status }
  }
  checkEncoding(url, headers)
  const version = resumed?.version ?? readVersion(headers)
  if (resumed === undefined) await startPartial(path, url, version)
  try {
    await append(path, response, options, idle)
  } catch (cause) {
    throw await failedDownload(url, path, { cause, response })
  }
  return { outcome: 'complete', modifiedAt: timeOf(version) }
}

/** Keeps what was downloaded of a file that can be resumed: a body of unstated size may be endless. */
async function failedDownload(
  url: string,
  path: string,
  { cause, response }: { readonly cause: unknown; readonly response: Response },
): Promise<Error> {
  const { size } = rangeOf(response.headers)
  if (size !== undefined && !(cause instanceof TooLarge)) {
    return failedRequest(url, cause, 'try again to resume')
  }
  await removeFetched(path)
  return failedRequest(url, cause)
}

/** Whether the file on the server is the one that is here, or older, by a HEAD request. */
export async function isUnchanged(url: string, options: FetchOptions): Promise<boolean> {
  const { modifiedSince, knownAt, idleMs } = options
  if (modifiedSince === undefined) return false
  using idle = watchIdle(idleMs)
  const { status, headers } = await request(url, withHeaders(options), idle, 'HEAD')
  const modifiedAt = timeOf(readVersion(headers)) ?? Number.POSITIVE_INFINITY
  const isKnown = modifiedAt <= modifiedSince || modifiedAt === knownAt
  return status === 304 || (status === 200 && isKnown)
}

/** Requests the missing rest of a file. Returns undefined if the download must start over. */
async function requestRest(
  url: string,
  partial: PartialFile,
  options: FetchOptions,
  idle: Idle,
): Promise<Response | undefined> {
  if (partial === undefined) return undefined
  const { bytes, validator } = partial
  const range = { range: `bytes=${bytes}-`, 'if-range': validator }
  const response = await request(url, withHeaders(options, range), idle)
  const { status, headers } = response
  // Some servers ignore If-Range.
  const current = validatorOf(readVersion(headers)) ?? validator
  const fits = rangeOf(headers).first === bytes && current === validator
  if (status === 206 ? fits : status !== 416) return response
  await response.body?.cancel()
  return undefined
}

function withHeaders(options: FetchOptions, more: RequestOptions['headers'] = {}): RequestOptions {
  const { headers, modifiedSince, limitMs } = options
  const since = modifiedSince === undefined ? undefined : new Date(modifiedSince).toUTCString()
  return {
    limitMs,
    headers: {
      ...headers,
      ...(since !== undefined && { 'if-modified-since': since }),
      // Bytes with a content encoding could not be resumed or checked.
      'accept-encoding': 'identity',
      ...more,
    },
  }
}

function checkEncoding(url: string, headers: Headers): void {
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding === 'identity') return
  throw failedRequest(url, new Error(`the server sends it in the encoding "${encoding}"`))
}

/** Appends the body to the file at `path`. Throws if the size then differs from the server's. */
async function append(
  path: string,
  { headers, body }: Response,
  { onShare, most = MAX_ARCHIVE_BYTES }: FetchOptions,
  idle: Idle,
): Promise<void> {
  const { first: start, size } = rangeOf(headers)
  if (size !== undefined && size > most) throw new TooLarge(most)
  await using file = await open(path, 'a')
  let done = start
  for await (const chunk of body === null ? [] : atMost(body, most - start)) {
    idle.touch()
    await file.appendFile(chunk)
    done += chunk.length
    onShare?.(size === undefined ? 0 : Math.min(1, done / size))
  }
  if (done !== (size ?? done)) throw new Error(`it ended after ${done} of ${size} bytes`)
  onShare?.(1)
}

/** The first byte that a response sends, and the size of the whole file if the server states it. */
function rangeOf(headers: Headers): { first: number; size: number | undefined } {
  const range = headers.get('content-range') ?? `bytes 0-0/${headers.get('content-length') ?? '*'}`
  const [, first, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(range) ?? []
  return { first: Number(first), size: size === '*' ? undefined : Number(size) }
}
