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
