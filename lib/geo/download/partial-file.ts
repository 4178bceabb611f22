import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import * as v from 'valibot'

/** The headers that identify a version of a file on a server. */
export const Version = v.object({
  etag: v.optional(v.string()),
  lastModified: v.optional(v.string()),
})
export type Version = v.InferOutput<typeof Version>

export function readVersion(headers: Headers): Version {
  const etag = headers.get('etag')
  const lastModified = headers.get('last-modified')
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) }
}

/**
 * The value for If-Range. A weak ETag does not promise equal bytes. Two versions may have the same
 * Last-Modified; the check of the whole file detects that.
 */
export function validatorOf({ etag, lastModified }: Version): string | undefined {
  return etag?.startsWith('"') ? etag : lastModified
}

/** Last-Modified in epoch milliseconds. */
export function timeOf({ lastModified }: Version): number | undefined {
  const time = Date.parse(lastModified ?? '')
  return Number.isNaN(time) ? undefined : time
}

const State = v.object({ url: v.string(), version: Version })

export type PartialFile = Awaited<ReturnType<typeof findPartial>>

/** Finds the interrupted download of `url` at `path`; undefined if there is none to resume. */
export async function findPartial(path: string, url: string) {
  try {
    const { version, ...state } = v.parse(
      State,
      JSON.parse(await readFile(statePath(path), 'utf8')),
    )
    const validator = validatorOf(version)
    const { size: bytes } = await stat(path)
    if (state.url !== url || bytes === 0 || validator === undefined) return undefined
    return { bytes, version, validator }
  } catch {
    return undefined // the file or its state is missing or damaged: the download starts over
  }
}

/** Starts a download. Empties `path` first: its bytes must never count as another version's. */
export async function startPartial(path: string, url: string, version: Version): Promise<void> {
  await writeFile(path, '')
  await writeFile(statePath(path), `${JSON.stringify({ url, version })}\n`)
}

export async function removeFetched(path: string): Promise<void> {
  await rm(path, { force: true })
  await rm(statePath(path), { force: true })
}

function statePath(path: string): string {
  return `${path}.json`
}
