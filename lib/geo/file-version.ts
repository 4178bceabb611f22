import * as v from 'valibot'

/** What tells one version of a file on a server from another: as its headers spell it. */
export const Version = v.object({
  etag: v.optional(v.string()),
  lastModified: v.optional(v.string()),
})
export type Version = v.InferOutput<typeof Version>

export function versionOf(headers: Headers): Version {
  const etag = headers.get('etag')
  const lastModified = headers.get('last-modified')
  return { ...(etag !== null && { etag }), ...(lastModified !== null && { lastModified }) }
}

/**
 * What If-Range may hold: a weak ETag does not promise equal bytes. Last-Modified can be a second
 * too coarse, which the check of the whole finds out.
 */
export function validatorOf({ etag, lastModified }: Version): string | undefined {
  return etag?.startsWith('"') ? etag : lastModified
}

/** Last-Modified in epoch milliseconds. */
export function timeOf({ lastModified }: Version): number | undefined {
  const time = Date.parse(lastModified ?? '')
  return Number.isNaN(time) ? undefined : time
}
