import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readValue } from '../../support/database/sql.ts'
import { ON_POSTGRES } from '../../support/database/test-database.ts'
import { anyCharacter } from '../../support/quick/any-character.ts'
import { sharedScene } from '../../support/scene/scene.ts'

/* Any input gets a documented answer, and never a 500: `send` checks each answer. */

const ORIGIN = 'https://shop.example'
const TABLES = ['rum_hours', 'rum_days', 'rum_pages', 'rum_errors', 'rum_counts']

const app = sharedScene({}, async () => {
  await ada.key()
  await ada.site(ORIGIN)
})
const ada = app.user('ada')

async function statusOf(body: unknown, headers: Record<string, string> = {}): Promise<number> {
  const all = { origin: ORIGIN, ...headers }
  return (await app.send('POST', '/v1/telemetry/rum', { body, headers: all })).status
}

const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(-0, 1e308, 0.1, 600_000))
const anything = fc.oneof(anyNumber, fc.string({ unit: anyCharacter }), fc.jsonValue())
const metric = fc.oneof({ weight: 5, arbitrary: anyNumber }, anything)
const names = ['lcp', 'inp', 'cls', 'ttfb', 'fid', 'dns', 'tls', '__proto__', 'toString', 'x']
const AnyBeacon = fc.record(
  {
    path: fc.oneof(fc.webPath(), fc.string({ unit: anyCharacter, maxLength: 510 }), anything),
    deviceType: fc.oneof(fc.constantFrom('mobile', 'desktop', 'tablet'), anything),
    connectionType: fc.oneof(fc.constantFrom('4g', 'WIFI', 'constructor'), anything),
    metrics: fc.oneof(fc.dictionary(fc.constantFrom(...names), metric), anything),
    errors: fc.oneof(
      fc.array(
        fc.record(
          {
            message: fc.string({ unit: anyCharacter, maxLength: 300 }),
            type: fc.string({ unit: anyCharacter }),
            source: fc.oneof(fc.webUrl({ withQueryParameters: true }), fc.string()),
            line: fc.oneof(fc.nat(), anyNumber),
            stack: fc.string({ unit: 'grapheme' }),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 12 },
      ),
      anything,
    ),
  },
  { requiredKeys: [] },
)

describe('POST /v1/telemetry/rum with random input', () => {
  it('stores or refuses any JSON, and overviews stay readable', async () => {
    const seen = new Set<number>()
    const check = async (beacon: unknown) => {
      const status = await statusOf(JSON.stringify(beacon))
      seen.add(status)
      assert.ok([204, 400, 413].includes(status), `${status}`)
    }
    await fc.assert(fc.asyncProperty(AnyBeacon, check), { numRuns: 400 })
    assert.ok(seen.has(204) && seen.has(400))
    const path = '/v1/telemetry/rum'
    assert.equal((await ada.send('GET', `${path}/summary?domain=shop.example`)).status, 200)
    assert.equal((await ada.send('GET', `${path}/overview?domain=shop.example`)).status, 200)
  })

  it('stores or refuses any bytes', async () => {
    const bytes = fc.uint8Array({ maxLength: 5_000, size: 'max' })
    const check = async (chunk: Uint8Array) => {
      const status = await statusOf(new Blob([Buffer.from(chunk)]).stream())
      assert.equal(status, chunk.length > 4096 ? 413 : 400)
    }
    await fc.assert(fc.asyncProperty(bytes, check), { numRuns: 100 })
  })

  it('stores or refuses beacons with any headers', async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 60 }).map((value) => value.replaceAll(/[^ -~]/g, '')),
      fc.webUrl(),
      fc.constantFrom('null', ORIGIN, `${ORIGIN}/`, 'https://', '*', 'Googlebot'),
    )
    const Headers = fc.record(
      { origin: text, referer: text, 'user-agent': text, 'content-type': text, cookie: text },
      { requiredKeys: [] },
    )
    const check = async (headers: Record<string, string>) => {
      const status = await statusOf('{"metrics":{"lcp":1}}', headers)
      const isOurs = (headers['origin'] ?? ORIGIN).trim() === ORIGIN
      assert.ok(status === 403 || (status === 204 && isOurs), `${status}`)
    }
    await fc.assert(fc.asyncProperty(Headers, check), { numRuns: 200 })
  })

  it('stores few rows for many different beacons', async () => {
    for (const table of TABLES) {
      const rows = Number(await readValue(app, `SELECT count(*) FROM ${table}`))
      assert.ok(rows <= 600, `${table}: ${rows}`)
    }
    if (!ON_POSTGRES) assert.equal(await readValue(app, 'PRAGMA integrity_check'), 'ok')
  })
})
