import { APP_PATH, DOCS_PATH } from '../lib/contract/pages.ts'
import type { GeoDatabase } from '../lib/geo/database.ts'
import { usageText } from '../lib/parts/clone-or-package.ts'

export interface Announced {
  readonly baseUrl: string
  readonly databases: readonly GeoDatabase[]
  /** One of each process; empty: the admin port is off. */
  readonly adminUrls: readonly string[]
}

/** Returns the text that `npm start` prints once the service answers. */
export function announcement({ baseUrl, databases, adminUrls }: Announced): string {
  const rows = databases.map(
    ({ name, provider, metadata }) =>
      `             ${name} (${provider}), built ${new Date(metadata.builtAt).toISOString().slice(0, 10)}`,
  )
  return [
    `Meridian     ${baseUrl}`,
    `Dashboard    ${baseUrl}${APP_PATH}`,
    `Reference    ${baseUrl}${DOCS_PATH}`,
    ...adminUrls.map((url) => `Operators    ${url}/metrics`),
    `Databases    ${rows.join('\n').trimStart()}`,
    `First key    ${usageText('key', '--email you@example.com --name first')}`,
    '',
  ].join('\n')
}
