const MAX_LENGTH = 200

/** Numbers, UUIDs and long hexadecimal texts: what tells things of one kind apart. */
const ID = /^(?:\d+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=.*\d)[0-9a-f]{12,})$/i

/**
 * The path with `*` for segments that are ids, without a fragment, a slash at the end and control
 * characters: so that pages of one kind are counted as one.
 */
export function plainPath(path: string): string {
  const [plain = ''] = path.split('#', 1)
  const segments = plain
    .replaceAll(/\p{Cc}/gu, '')
    .split('/')
    .map((segment) => (ID.test(segment) ? '*' : segment))
  const joined = segments.join('/').replace(/(?<=.)\/+$/, '')
  return (joined.startsWith('/') ? joined : `/${joined}`).toWellFormed().slice(0, MAX_LENGTH)
}
