import { type ClientOptions, Meridian } from '../../src/index.ts'

/** The service that `npm run test:outside` starts, and keys for it. */
export const URL_OF_SERVICE = read('MERIDIAN_URL')
export const KEY = read('MERIDIAN_KEY')
/** May only look up. */
export const GEO_KEY = read('MERIDIAN_GEO_KEY')
/** Has 10 requests a minute. */
export const FREE_KEY = read('MERIDIAN_FREE_KEY')

function read(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`Run npm run test:outside: ${name} is not set`)
  return value
}

export function newClient(options: Partial<ClientOptions> = {}): Meridian {
  return new Meridian({ url: URL_OF_SERVICE, key: KEY, ...options })
}

/** A client that notes the path, query and body of each request. */
export function newWatchedClient(options: Partial<ClientOptions> = {}) {
  const requests: { readonly target: string; readonly body: string }[] = []
  const watch: typeof fetch = (input, init) => {
    const { pathname, search } = new URL(String(input))
    requests.push({ target: `${pathname}${search}`, body: String(init?.body ?? '') })
    return fetch(input, init)
  }
  return { client: newClient({ fetch: watch, ...options }), requests }
}
