import type { GeoDatabase } from './geo/database.ts'

/** What `npm start` prints once the service answers. */
export function announcement(baseUrl: string, databases: readonly GeoDatabase[]): string {
  const rows = databases.map(
    ({ name, provider, metadata }) =>
      `             ${name} (${provider}), built ${new Date(metadata.builtAt).toISOString().slice(0, 10)}`,
  )
  return [
    `Meridian     ${baseUrl}`,
    `Description  ${baseUrl}/.well-known/openapi.json`,
    `Databases    ${rows.join('\n').trimStart()}`,
    'First key    npm run --silent key -- --email you@example.com --name first',
    '',
  ].join('\n')
}
