import * as v from 'valibot'
import { urlsOfHosts } from '../parts/net/urls-of-hosts.ts'

/**
 * The URL of a PostgreSQL database. It may name several servers, as libpq's does: `postgres://user@one,two:5433/name`.
 * It may hold a password, so no message shows it.
 */
export const DatabaseUrl = v.pipe(
  v.string(),
  v.check(
    (text) => urlsOfHosts(text).every(isPostgresUrl),
    'must be a postgres or postgresql URL, such as postgres://user:password@db.example/meridian, with # in a password as %23',
  ),
)

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hash === ''
}
