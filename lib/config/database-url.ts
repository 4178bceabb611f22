import * as v from 'valibot'

/** The URL of a PostgreSQL database. It may hold a password, so no message shows it. */
export const DatabaseUrl = v.pipe(
  v.string(),
  v.check(
    isPostgresUrl,
    'must be a postgres or postgresql URL, such as postgres://user:password@db.example/meridian, with # in a password as %23',
  ),
)

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^postgres(ql)?:$/.test(url.protocol) && url.hash === ''
}

/** The URL of a Valkey or Redis server. It may hold a password, so no message shows it. */
export const LimitsUrl = v.pipe(
  v.string(),
  v.check(
    isLimitsUrl,
    'must be a valkey, valkeys, redis or rediss URL, such as rediss://user:password@limits.example:6379/0, with # in a password as %23',
  ),
)

/** The client would ignore what follows the number of the database, and a user without a password. */
function isLimitsUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^(valkeys?|rediss?):$/.test(url.protocol)) return false
  if (url.hostname === '' || url.hash !== '' || url.search !== '') return false
  if (!/^(\/\d*)?$/.test(url.pathname) || (url.username !== '' && url.password === '')) return false
  return isEncoded(url.username) && isEncoded(url.password)
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
