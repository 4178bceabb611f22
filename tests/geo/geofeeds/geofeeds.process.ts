import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { mmdbBytes } from '../../support/geo-files.ts'
import { RUNTIME } from '../../support/runtime.ts'

let folder = ''
let own = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'meridian-geofeeds-'))
  own = join(folder, 'geofeed.csv')
  mkdirSync(join(folder, 'geo'))
  writeFileSync(join(folder, 'geo', 'regions.json'), '{}')
  writeFileSync(
    join(folder, 'Mine.mmdb'),
    mmdbBytes(
      { '10.0.0.0/8': { country: { iso_code: 'DE' }, city: { names: { en: 'Berlin' } } } },
      { databaseType: 'Mine' },
    ),
  )
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs a command with the geofeed, or with other settings. */
function run(
  name: 'geo' | 'address-lists/locate',
  args: readonly string[],
  geofeeds = `${own}=10.0.0.0/8`,
) {
  const [program, ...options] = RUNTIME
  const { status, stdout, stderr } = spawnSync(
    program,
    [...options, `scripts/${name}.ts`, ...args],
    {
      env: {
        MERIDIAN_DATA_DIR: folder,
        MERIDIAN_GEO: join(folder, 'Mine.mmdb'),
        MERIDIAN_GEOFEEDS: geofeeds,
      },
      input: '10.1.2.3\n10.2.0.0\n10.3.0.0\n',
      encoding: 'utf8',
    },
  )
  return {
    status,
    stdout,
    stderr,
    rows: stdout.split('\n').map((row) => row.replaceAll(/ +/g, ' ')),
  }
}

describe('npm run geo -- --geofeeds', () => {
  it('compiles them; they are served before databases, and the list shows what is ignored', () => {
    const lines = ['10.1.0.0/16,FR,,Paris,', '11.0.0.0/8,FR,,,', '10.2.0.0/33,FR,,,', '10.3.0.0/16']
    writeFileSync(own, lines.join('\n'))
    const updated = run('geo', ['--geofeeds'])
    assert.deepEqual([updated.status, updated.stdout, updated.stderr], [0, '', ''])
    const { status, rows } = run('geo', [])
    assert.equal(status, 0)
    assert.match(rows[1] ?? '', /^geofeeds geofeed Meridian-Geofeeds 6 3 20.*geofeeds\.mmdb$/)
    assert.match(rows[2] ?? '', /^Mine mine /)
    assert.equal(rows[4], 'Geofeed Networks Outside Bad Checked Problem')
    assert.match(rows[5] ?? '', /geofeed\.csv 2 1 1 20\S+ line 2: 11\.0\.0\.0\/8 is outside the/)
    const places = run('address-lists/locate', []).stdout.trim().split('\n')
    const cities = places.map((json) => JSON.parse(json).location?.city)
    assert.deepEqual(cities, ['Paris', 'Berlin', undefined])
  })

  it('lists on demand all that is ignored, also of a feed that is refused', () => {
    const bad = Array.from({ length: 25 }, (_, at) => `bad ${at}`)
    writeFileSync(own, ['10.1.0.0/16,IT,IT-MI,Milano,', '11.0.0.0/8,FR,,,', ...bad].join('\n'))
    const { status, stdout } = run('geo', ['--ignored'])
    const lines = stdout.trimEnd().split('\n')
    assert.deepEqual([status, lines.length], [0, 26], stdout)
    for (const [at, line] of lines.entries())
      assert.match(line, RegExp(`feed\\.csv: line ${at + 2}: `))
  })

  it('makes a file that is served only with the setting', () => {
    writeFileSync(own, '10.1.0.0/16,FR,,Paris,')
    run('geo', ['--geofeeds'])
    assert.doesNotMatch(run('geo', [], '').stdout, /Geofeed/)
  })

  it('reports a feed or a file of registry objects that cannot be used, and exits with 1', () => {
    const missing = run('geo', ['--geofeeds'])
    assert.equal(missing.status, 1)
    assert.match(missing.stderr, /^.*geofeed\.csv: ENOENT.*\n$/)
    const other = run('geo', ['--geofeeds'], join(folder, 'Mine.mmdb'))
    assert.equal(other.status, 1)
    assert.match(
      other.stderr,
      /^Cannot read the registry objects in .*Mine\.mmdb: it has no object/,
    )
  })
})
