import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { sep } from 'node:path'
import { dirname, join } from 'node:path/posix'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Rooms below the subjects, which every subject may use. `lib/db/` is only for subjects that store data. */
const BELOW = ['lib/config/', 'lib/contract/', 'lib/parts/']

/**
 * Rooms that the files of a room may import from. A file belongs to the last row whose name its path
 * begins with.
 */
const ROOMS: readonly (readonly [room: string, others: readonly string[]])[] = [
  ['jsx.ts', []],
  ['server.ts', ['lib/config/', 'lib/parts/', 'main/']],
  ['main/', ['admin/', ...BELOW, 'lib/geo/', 'lib/http/', 'lib/services/', 'routes/']],
  ['admin/', ['lib/http/', 'lib/parts/', 'lib/services/']],
  ['scripts/', ['lib/', 'routes/', 'web/']],
  ['scripts/address-lists/', ['lib/', 'pages/', 'scripts/']],
  ['scripts/accuracy/', ['lib/', 'pages/', 'scripts/']],
  ['scripts/kit/', ['lib/', 'pages/', 'routes/', 'scripts/']],
  ['scripts/package/', ['lib/assets/', 'lib/parts/', 'scripts/', 'server.ts']],
  ['scripts/parts/compile.ts', ['lib/', 'main/']],
  ['scripts/stripe.ts', ['lib/config/', 'lib/parts/', 'scripts/', 'stripe-double/']],
  ['bench/', ['lib/', 'scripts/parts/', 'stripe-double/']],
  ['stripe-double/', []],
  ['sdk/typescript/src/', []],
  [
    'pages/',
    [
      'lib/config/',
      'lib/contract/',
      'lib/address-lists/',
      'lib/assets/map-tile.ts',
      'lib/parts/size-text.ts',
    ],
  ],
  ['pages/reference/', [...BELOW, 'lib/openapi/', 'pages/']],
  ['web/', ['lib/contract/']],
  ['web/app/', ['lib/contract/', 'lib/address-lists/', 'pages/']],
  ['web/docs/', ['lib/contract/', 'pages/reference/', 'web/app/copying.ts']],
  ['web/home/', ['lib/contract/', 'pages/']],
  ['routes/', ['lib/', 'pages/']],
  ['lib/parts/', []],
  ['lib/assets/', ['lib/parts/']],
  ['lib/config/', BELOW],
  ['lib/contract/', ['lib/parts/']],
  ['lib/postgres/', ['lib/parts/']],
  ['lib/db/', ['lib/contract/', 'lib/parts/', 'lib/postgres/']],
  ['lib/http/', BELOW],
  ['lib/address-lists/', ['lib/contract/', 'lib/parts/']],
  ['lib/openapi/', BELOW],
  ['lib/mcp/', [...BELOW, 'lib/openapi/']],
  ['lib/geo/', BELOW],
  ['lib/access/', ['lib/contact/', 'lib/db/', 'lib/postgres/', ...BELOW]],
  ['lib/accounts/', ['lib/contact/', 'lib/db/', ...BELOW]],
  ['lib/backup/', ['lib/db/', ...BELOW]],
  ['lib/billing/', ['lib/db/', ...BELOW]],
  ['lib/contact/', ['lib/db/', ...BELOW]],
  ['lib/doctor/', ['lib/db/', ...BELOW]],
  ['lib/limits/', ['lib/db/', 'lib/postgres/', ...BELOW]],
  ['lib/rum/', ['lib/db/', 'lib/postgres/', ...BELOW]],
  ['lib/usage/', ['lib/access/', 'lib/db/', ...BELOW]],
  [
    'lib/storage/',
    ['lib/access/', 'lib/backup/', 'lib/db/', 'lib/limits/', 'lib/postgres/', 'lib/rum/', ...BELOW],
  ],
  ['lib/services/', ['lib/']],
]

/** Packages that only some files may import. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  '@hono/node-server': ['routes/server.ts', 'bench/', 'stripe-double/'],
  '@iconify-json/lucide': ['scripts/release/icon-file.ts'],
  '@modelcontextprotocol/server': ['lib/mcp/', 'scripts/mcp.ts'],
  '@photostructure/tz-lookup': ['lib/geo/place/timezone-at.ts'],
  '@valibot/to-json-schema': ['lib/mcp/tools.ts', 'lib/openapi/'],
  '@zxcvbn-ts/language-common': ['lib/access/sign-in/common-passwords.ts'],
  'altcha-lib': ['lib/contact/proof-of-work.ts'],
  'better-auth': [
    'lib/access/sign-in/embedded-auth.ts',
    'lib/access/sign-in/hashed-tokens.ts',
    'lib/access/sign-in/map-errors.ts',
    'lib/access/sign-in/passwords.ts',
    'lib/access/sign-in/refusals.ts',
    'lib/access/sign-in/reset-password.ts',
    'lib/access/sign-in/second-step.ts',
    'lib/access/sign-in/stand-in-addresses.ts',
    'lib/accounts/sealed.ts',
  ],
  'better-sqlite3': ['lib/db/connection.ts', 'lib/db/open.ts'],
  'countries-list': ['lib/geo/place/country-facts.ts'],
  'd3-dsv': [
    'lib/geo/answer/bulk-csv.ts',
    'lib/geo/answer/result-csv.ts',
    'lib/geo/files/compile-asn.ts',
    'lib/geo/overlay/cells.ts',
    'lib/address-lists/write-list.ts',
    'lib/services/operate/csv-file.ts',
  ],
  'drizzle-orm': ['lib/db/drizzle.ts'],
  esbuild: ['jsx.ts', 'lib/assets/sources.ts'],
  hono: [
    'pages/',
    'routes/',
    'scripts/accuracy/',
    'bench/',
    'scripts/address-lists/',
    'scripts/kit/',
    'sdk/typescript/src/hono.ts',
    'stripe-double/',
    'web/app/',
    'web/home/',
  ],
  isbot: ['lib/rum/ingest/bots.ts'],
  koffi: ['lib/geo/files/mapped-file.ts', 'bench/parts/machine.ts'],
  'mmdb-lib': ['bench/'],
  'moment-timezone': ['lib/geo/answer/packed-zones.ts'],
  nodemailer: ['lib/parts/mail.ts'],
  pg: [
    'lib/postgres/hosts.ts',
    'lib/postgres/listen.ts',
    'lib/postgres/pool.ts',
    'lib/postgres/stalls.ts',
  ],
  pino: ['lib/parts/log/log.ts'],
  'playwright-core': ['bench/', 'scripts/parts/demo-instance.ts'],
  'prom-client': ['lib/parts/metrics/metrics.ts'],
  qr: ['pages/dashboard/account/second-factor.tsx'],
  stripe: ['lib/billing/stripe/', 'stripe-double/'],
  tar: [
    'lib/accounts/export/export-account.ts',
    'lib/backup/archive.ts',
    'lib/geo/download/unpack.ts',
    'scripts/release/make-release.ts',
  ],
  tdigest: ['lib/rum/sketch/sketch.ts'],
  tldts: ['lib/access/origins.ts'],
  'topojson-client': ['lib/assets/outlines.ts'],
  uplot: ['web/app/'],
  valibot: ['bench/', 'lib/', 'pages/reference/', 'routes/', 'scripts/', 'stripe-double/'],
  'web-vitals': ['web/rum/'],
  'world-atlas': ['lib/assets/outlines.ts'],
}

/** Files and folders that only the listed files may import, and the files of the folder itself. */
const PRIVATE: Readonly<Record<string, readonly string[]>> = {
  'lib/db/drizzle.ts': ['lib/'],
  'lib/db/contact-tables.ts': ['lib/'],
  'lib/db/tables.ts': ['lib/'],
  'lib/db/billing-tables.ts': ['lib/'],
  'lib/http/fast-path/': ['lib/http/http-server.ts'],
  'lib/services/services.ts': ['main/start.ts', 'admin/', 'scripts/', 'routes/', 'lib/services/'],
}

const files = [
  '{jsx,server}.ts',
  '{admin,bench,lib,main,pages,routes,scripts,stripe-double,web}/**/*.{ts,tsx}',
  'sdk/typescript/src/**/*.ts',
]
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .map((file) => file.replaceAll(sep, '/'))
  .sort()

const imports = files.flatMap((file) =>
  specifiers(readFileSync(join(root, file), 'utf8')).map((specifier) => ({ file, specifier })),
)

function specifiers(source: string): string[] {
  const found = source.matchAll(
    /(?:^|\n)(?:import|export|\})[^'\n]*?from '([^']+)'|import\('([^']+)'\)/g,
  )
  return [...found].map(([, from, later]) => from ?? later ?? '')
}

function roomOf(file: string): readonly [string, readonly string[]] {
  const room = ROOMS.findLast(([name]) => file.startsWith(name))
  assert.ok(room, `${file} belongs to no room`)
  return room
}

function isWithin(file: string, places: readonly string[]): boolean {
  return places.some((place) => file.startsWith(place))
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

describe('imports', () => {
  it('are found in every top-level room', () => {
    const rooms = 'admin bench lib main pages routes scripts sdk stripe-double web'.split(' ')
    for (const floor of ['server.ts', ...rooms.map((room) => `${room}/`)]) {
      const isFound = imports.some(({ file }) => file.startsWith(floor))
      assert.ok(isFound, floor)
    }
  })

  it('reach only the rooms that ROOMS allows', () => {
    const wrong = imports
      .filter(({ specifier }) => specifier.startsWith('.') && !specifier.endsWith('.json'))
      .map(({ file, specifier }) => ({ file, target: join(dirname(file), specifier) }))
      .filter(({ file, target }) => {
        const [room, others] = roomOf(file)
        return !isWithin(target, [room, ...others])
      })
    assert.deepEqual(wrong, [])
  })

  it('of private files and folders come only from the listed places', () => {
    const wrong = imports
      .map(({ file, specifier }) => ({ file, target: join(dirname(file), specifier) }))
      .filter(({ file, target }) =>
        Object.entries(PRIVATE).some(
          ([place, importers]) =>
            target.startsWith(place) && !isWithin(file, [place, ...importers]),
        ),
      )
    assert.deepEqual(wrong, [])
  })

  it('of packages are only in their owner files', () => {
    const wrong = imports
      .filter(({ specifier }) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
      .filter(({ file, specifier }) => !isWithin(file, OWNERS[packageOf(specifier)] ?? []))
    assert.deepEqual(wrong, [])
  })

  it('of node: modules are not in routes, pages and code for browsers', () => {
    const wrong = imports
      .filter(({ specifier }) => specifier.startsWith('node:'))
      .filter(({ file }) => isWithin(file, ['pages/', 'routes/', 'sdk/', 'web/']))
    assert.deepEqual(wrong, [])
  })
})
