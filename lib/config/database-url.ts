import * as v from 'valibot'
import { urlsOfHosts } from '../parts/net/urls-of-hosts.ts'

/**
 * The URL of a PostgreSQL database. It may name several servers, as libpq's does: `postgres://user@one,two:5433/name`.
 * It may hold a password, so no message shows it.
 */
export const DatabaseUrl = v.pipe(
  v.string(),
  v.check((text) => {
    const urls = urlsOfHosts(text)
    return urls.every((url) => isPostgresUrl(url, urls.length > 1))
  }, 'must be a postgres or postgresql URL, such as postgres://user:password@db.example/meridian, with # in a password as %23'),
)

/** One without a host is of this machine, but in a list it is a slip. */
function isPostgresUrl(text: string, needsHost: boolean): boolean {
  const url = URL.parse(text)
  if (url === null || (needsHost && url.hostname === '')) return false
  return /^postgres(ql)?:$/.test(url.protocol) && url.hash === ''
}
