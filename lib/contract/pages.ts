/** Pages for people. They are not operations of the API. */
export const HOME_PATH = '/'
export const DOCS_PATH = '/docs'
export const ROBOTS_PATH = '/robots.txt'
/** Browsers ask for it where no page names an icon, such as beside JSON. */
export const FAVICON_PATH = '/favicon.ico'
/** RFC 9116. */
export const SECURITY_PATH = '/.well-known/security.txt'
/** The API reference as Markdown, for programs that read texts. */
export const LLMS_PATH = '/llms.txt'
/** Root path of the dashboard. */
export const APP_PATH = '/app'
/** The vitals of a site, for whoever has a link to them. The token must not get into logs: name this route there. */
export const SHARED_PATH = '/shared/:token'
/** The link in mails that whoever has it can stop. */
export const STOP_PATH = '/app/stop-mails'
/** Sends a request of the reference with the session of the dashboard. */
export const TRY_PATH = '/app/try'

/** The field with the id of a form: what arrives twice with one id has one effect, and one answer. */
export const FORM_ID = 'formId'

/** The Model Context Protocol, for assistants. Its tools are operations of the API. */
export const MCP_PATH = '/mcp'

export const AUTH_BASE_PATH = '/api/auth'

/** Route of the files that pages load. Browsers cache them for a year. */
export const ASSET_PATTERN = '/assets/:file{[a-z0-9-]+\\.[0-9a-f]{16}\\.[a-z0-9]+}'

/** Path of an asset: `name` such as `site.css`, `hash` of its content in 16 hex digits. */
export function assetPath(name: string, hash: string): string {
  return `/assets/${name.replace('.', `.${hash}.`)}`
}

/** API paths. They answer in JSON, whatever the Accept header says. */
export const API_PATHS = /^\/(v1|api|mcp|\.well-known|health)(\/|$)/
