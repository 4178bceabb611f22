/**
 * Returns the URL of each server that the URL names, in its order: `scheme://user@one,two:5433/name` names two.
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 */
export function urlsOfHosts(url: string): string[] {
  const [, start = '', hosts = '', end = ''] =
    /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? []
  return hosts.includes(',') ? hosts.split(',').map((host) => `${start}${host}${end}`) : [url]
}
