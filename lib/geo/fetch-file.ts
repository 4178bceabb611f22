import { open } from 'node:fs/promises'
import { timeOf, validatorOf, versionOf } from './file-version.ts'
import {
  failedRequest,
  type Idle,
  type RequestOptions,
  request,
  watchIdle,
} from './http-request.ts'
import { findPartial, type PartialFile, startPartial } from './partial-file.ts'

export interface FetchOptions extends RequestOptions {
  /** Epoch milliseconds: a file that has not changed since is not fetched. */
  readonly modifiedSince?: number | undefined
  /** Called with the share that is on disk, 0 to 1. */
  readonly onShare?: (share: number) => void
}

export type Fetched =
  /** `modifiedAt` in epoch milliseconds, where the server tells. */
  | { readonly outcome: 'complete'; readonly modifiedAt: number | undefined }
  | { readonly outcome: 'not-modified' }
  | { readonly outcome: 'refused'; readonly status: number }

/**
 * Downloads `url` to `path`. What an interrupted call has left there is continued if the server
 * still has the same file (RFC 9110 sections 13.1.5 and 14). The caller checks the whole and
 * removes it with `removePartial`. Throws an error that names the URL and the reason.
 */
export async function fetchFile(
  url: string,
  path: string,
  options: FetchOptions,
): Promise<Fetched> {
  using idle = watchIdle(options.idleMs)
  const transfer = { url, path, options, idle }
  const partial = await findPartial(path, url)
  const continued = partial && (await fetchRest(transfer, partial))
  if (continued !== undefined) return continued
  // Awaited: the watch ends with this function.
  return await receive(await request(url, headersOf(options), idle), transfer)
}

/** Whether the server says, without sending it, that the file has not changed since. */
export async function isUnchanged(url: string, options: FetchOptions): Promise<boolean> {
  const { modifiedSince, idleMs } = options
  if (modifiedSince === undefined) return false
  using idle = watchIdle(idleMs)
  const { status, headers } = await request(url, headersOf(options), idle, 'HEAD')
  const modifiedAt = timeOf(versionOf(headers)) ?? Number.POSITIVE_INFINITY
  return status === 304 || (status === 200 && modifiedAt <= modifiedSince)
}

interface Transfer {
  readonly url: string
  readonly path: string
  readonly options: FetchOptions
  readonly idle: Idle
}

/** Undefined where the server has nothing that fits to what is there. */
async function fetchRest(
  transfer: Transfer,
  { bytes, version }: PartialFile,
): Promise<Fetched | undefined> {
  const { url, options, idle } = transfer
  const validator = validatorOf(version)
  if (validator === undefined) return undefined
  const range = { range: `bytes=${bytes}-`, 'if-range': validator }
  const response = await request(url, { ...headersOf(options), ...range }, idle)
  if (response.status === 206 && isRest(response.headers, bytes, validator)) {
    await append(response, transfer, { start: bytes, total: partOf(response.headers)?.total })
    return { outcome: 'complete', modifiedAt: timeOf(version) }
  }
  if (response.status !== 206 && response.status !== 416) return receive(response, transfer)
  await response.body?.cancel()
  return undefined
}

function headersOf({ headers, modifiedSince }: FetchOptions): Record<string, string> {
  const since = modifiedSince === undefined ? undefined : new Date(modifiedSince).toUTCString()
  return {
    ...headers,
    ...(since !== undefined && { 'if-modified-since': since }),
    // The bytes as they are: encoded on the way, they could be neither continued nor checked.
    'accept-encoding': 'identity',
  }
}

/** Some servers know ranges, but not If-Range. */
function isRest(headers: Headers, bytes: number, validator: string): boolean {
  const current = validatorOf(versionOf(headers))
  return partOf(headers)?.first === bytes && (current === undefined || current === validator)
}

async function receive(response: Response, transfer: Transfer): Promise<Fetched> {
  const { url, path, options } = transfer
  const { status, headers, body } = response
  if (status !== 200) {
    await body?.cancel()
    const isSame = status === 304 && options.modifiedSince !== undefined
    return isSame ? { outcome: 'not-modified' } : { outcome: 'refused', status }
  }
  const version = versionOf(headers)
  await startPartial(path, url, version)
  await append(response, transfer, { start: 0, total: lengthOf(headers) })
  return { outcome: 'complete', modifiedAt: timeOf(version) }
}

interface Extent {
  readonly start: number
  /** Bytes of the whole file. */
  readonly total: number | undefined
}

const ADVICE = 'run it again, and it continues'

async function append(
  { body, headers }: Response,
  { url, path, options, idle }: Transfer,
  { start, total }: Extent,
): Promise<void> {
  checkEncoding(url, headers)
  await using file = await open(path, 'a')
  let done = start
  try {
    for await (const chunk of body ?? []) {
      idle.touch()
      await file.appendFile(chunk)
      done += chunk.length
      options.onShare?.(total === undefined ? 0 : Math.min(1, done / total))
    }
    if (done !== (total ?? done)) throw new Error(`it ended after ${done} of ${total} bytes`)
  } catch (cause) {
    throw failedRequest(url, cause, ADVICE)
  }
  options.onShare?.(1)
}

function checkEncoding(url: string, headers: Headers): void {
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding === 'identity') return
  throw failedRequest(url, new Error(`the server sends it in the encoding "${encoding}"`))
}

function partOf(headers: Headers): { first: number; total: number | undefined } | undefined {
  const [, first, total] =
    /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? []
  if (first === undefined) return undefined
  return { first: Number(first), total: total === '*' ? undefined : Number(total) }
}

function lengthOf(headers: Headers): number | undefined {
  const length = headers.get('content-length')
  return length === null ? undefined : Number(length)
}
