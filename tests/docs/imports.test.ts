import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * What the files of a room may import from other rooms. A file belongs to the last row whose name
 * its path begins with; rows go from the general to the particular.
 */
const ROOMS: readonly (readonly [room: string, others: readonly string[]])[] = [
  ['server.ts', ['admin/', 'lib/', 'lib/geo/', 'lib/services/', 'routes/']],
  ['admin/', ['lib/', 'lib/metrics/', 'lib/services/']],
  ['scripts/', ['lib/', 'lib/*/', 'routes/', 'web/']],
  ['scripts/stripe.ts', ['lib/', 'scripts/', 'stripe-double/']],
  ['scripts/bench/soak/', ['lib/', 'scripts/', 'stripe-double/']],
  ['stripe-double/', []],
  ['pages/', ['lib/', 'lib/contract/']],
  ['web/', ['lib/contract/']],
  ['web/app/', ['lib/contract/', 'pages/']],
  ['web/home/', ['lib/contract/', 'pages/']],
  ['routes/', ['lib/', 'lib/*/', 'pages/']],
  ['lib/', ['lib/contract/']],
  ['lib/announce.ts', ['lib/', 'lib/contract/', 'lib/geo/']],
  ['lib/contract/', ['lib/']],
  ['lib/db/', ['lib/', 'lib/contract/']],
  ['lib/access/', ['lib/', 'lib/contract/', 'lib/db/']],
  ['lib/accounts/', ['lib/', 'lib/contract/', 'lib/db/']],
  ['lib/contact/', ['lib/', 'lib/contract/', 'lib/db/']],
  ['lib/limits/', ['lib/', 'lib/contract/', 'lib/db/']],
  ['lib/metrics/', ['lib/']],
  ['lib/rum/', ['lib/', 'lib/contract/', 'lib/db/']],
  ['lib/billing/', ['lib/', 'lib/contract/', 'lib/db/']],
  ['lib/backup/', ['lib/', 'lib/db/']],
  ['lib/doctor/', ['lib/', 'lib/db/']],
  ['lib/geo/', ['lib/', 'lib/contract/']],
  ['lib/services/', ['lib/', 'lib/*/']],
]

/** Packages from outside that are not for everybody, each with the files that may import it. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  '@hono/node-server': ['server.ts', 'stripe-double/', 'scripts/bench/'],
  '@photostructure/tz-lookup': ['lib/geo/timezones.ts'],
  '@valibot/to-json-schema': ['lib/openapi-schemas.ts'],
  'altcha-lib': ['lib/contact/proof-of-work.ts'],
  autocannon: ['scripts/bench/'],
  'better-auth': ['lib/access/embedded-auth.ts', 'lib/access/hashed-tokens.ts'],
  'better-sqlite3': ['lib/db/check-sound.ts', 'lib/db/open.ts', 'lib/db/unit.ts'],
  'd3-dsv': ['lib/geo/bulk-csv.ts', 'lib/geo/compile-asn.ts', 'lib/geo/overlay-row.ts', 'web/app/'],
  'drizzle-orm': ['lib/db/drizzle.ts'],
  esbuild: ['lib/bundle.ts'],
  hono: ['pages/', 'routes/', 'stripe-double/', 'scripts/bench/', 'web/home/'],
  koffi: ['lib/geo/mapped-file.ts'],
  'mmdb-lib': ['scripts/bench/'],
  nodemailer: ['lib/mail.ts'],
  pino: ['lib/log.ts'],
  'playwright-core': ['scripts/bench/', 'scripts/screenshots.ts'],
  'prom-client': ['lib/metrics/metrics.ts'],
  stripe: ['lib/billing/', 'stripe-double/'],
  tar: ['lib/backup/archive.ts', 'lib/geo/unpack.ts'],
  tdigest: ['lib/rum/sketch.ts'],
  tldts: ['lib/access/origins.ts'],
  'topojson-client': ['lib/world-map.ts'],
  uplot: ['web/app/'],
  valibot: ['lib/', 'routes/', 'scripts/', 'stripe-double/'],
  'web-vitals': ['web/rum/'],
  'world-atlas': ['lib/world-map.ts'],
}

/** Files that only the named ones may import. */
const PRIVATE: Readonly<Record<string, readonly string[]>> = {
  'lib/db/drizzle.ts': ['lib/'],
  'lib/db/contact-tables.ts': ['lib/'],
  'lib/db/tables.ts': ['lib/'],
  'lib/db/billing-tables.ts': ['lib/'],
  'lib/db/rum-tables.ts': ['lib/db/'],
  'lib/services/services.ts': ['server.ts', 'admin/', 'scripts/', 'routes/', 'lib/services/'],
}

const files = ['server.ts', '{admin,lib,pages,routes,scripts,stripe-double,web}/**/*.{ts,tsx}']
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
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
  assert.ok(room, `${file} stands in no room`)
  return room
}

function isWithin(file: string, places: readonly string[]): boolean {
  return places.some((place) => file.startsWith(place))
}

/** `lib/*` with a slash is every folder of lib; `lib/` only the files that stand in lib itself. */
function mayEnter(places: readonly string[], file: string): boolean {
  return places.some((place) => {
    if (place === 'lib/*/') return /^lib\/.+\//.test(file)
    if (place === 'lib/') return /^lib\/[^/]+$/.test(file)
    return file.startsWith(place)
  })
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

describe('imports', () => {
  it('are found in every floor', () => {
    for (const floor of [
      'server.ts',
      'admin/',
      'lib/',
      'pages/',
      'routes/',
      'scripts/',
      'stripe-double/',
      'web/',
    ]) {
      assert.ok(
        imports.some(({ file }) => file.startsWith(floor)),
        floor,
      )
    }
  })

  it('of other rooms are those that the room may know', () => {
    const wrong = imports
      .filter(({ specifier }) => specifier.startsWith('.') && !specifier.endsWith('.json'))
      .map(({ file, specifier }) => ({ file, target: join(dirname(file), specifier) }))
      .filter(({ file, target }) => {
        const [room, others] = roomOf(file)
        return !mayEnter([room, ...others], target)
      })
    assert.deepEqual(wrong, [])
  })

  it('of private files come from the floors above', () => {
    const wrong = imports
      .map(({ file, specifier }) => ({ file, target: join(dirname(file), specifier) }))
      .filter(({ file, target }) => !isWithin(file, PRIVATE[target] ?? ['']))
    assert.deepEqual(wrong, [])
  })

  it('of outside packages stand with their owners', () => {
    const wrong = imports
      .filter(({ specifier }) => !specifier.startsWith('.') && !specifier.startsWith('node:'))
      .filter(({ file, specifier }) => !isWithin(file, OWNERS[packageOf(specifier)] ?? []))
    assert.deepEqual(wrong, [])
  })

  it('of node: stand in no route and no page, and in nothing that browsers run', () => {
    const wrong = imports
      .filter(({ specifier }) => specifier.startsWith('node:'))
      .filter(({ file }) => isWithin(file, ['pages/', 'routes/', 'web/']))
    assert.deepEqual(wrong, [])
  })
})
