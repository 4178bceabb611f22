/** Pages for people, which no operation of the interface is. */
export const HOME_PATH = '/'
export const DOCS_PATH = '/docs'
export const ROBOTS_PATH = '/robots.txt'
/** The dashboard: all of it stands here or below. */
export const APP_PATH = '/app'

/** Where what pages load stands, as the router knows it; stored for a year. */
export const ASSET_PATTERN = '/assets/:file{[a-z-]+\\.[0-9a-f]{16}\\.[a-z]+}'

/** Path of the version of the asset with this hash, 16 hexadecimal digits: `site.css` and its hash. */
export function assetPath(name: string, hash: string): string {
  return `/assets/${name.replace('.', `.${hash}.`)}`
}

/** Paths where programs ask, which are answered in JSON whatever they accept. */
export const API_PATHS = /^\/(v1|api|\.well-known|health)(\/|$)/
