import { APP_PATH, DOCS_PATH } from './lib/contract/pages.ts'
import type { GeoDatabase } from './lib/geo/database.ts'
import { usageText } from './lib/own-code.ts'

export interface Announced {
  readonly baseUrl: string
  readonly databases: readonly GeoDatabase[]
  /** undefined: the admin port is off. */
  readonly adminUrl: string | undefined
}

/** Returns the text that `npm start` prints once the service answers. */
export function announcement({ baseUrl, databases, adminUrl }: Announced): string {
  const rows = databases.map(
    ({ name, provider, metadata }) =>
      `             ${name} (${provider}), built ${new Date(metadata.builtAt).toISOString().slice(0, 10)}`,
  )
  return [
    `Meridian     ${baseUrl}`,
    `Dashboard    ${baseUrl}${APP_PATH}`,
    `Reference    ${baseUrl}${DOCS_PATH}`,
    ...(adminUrl === undefined ? [] : [`Operators    ${adminUrl}/metrics`]),
    `Databases    ${rows.join('\n').trimStart()}`,
    `First key    ${usageText('key', '--email you@example.com --name first')}`,
    '',
  ].join('\n')
}
