import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { MmdbValue } from '../../../lib/geo/mmdb/value.ts'
import { runWithInput } from '../../address-lists/run-locate.ts'
import { mmdbBytes } from '../../support/geo-files.ts'
import { inherited } from '../../support/runtime.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
const path = (name: string) => join(folder, name)
/** In order of priority. */
const DATABASES = ['GeoLite2-City', 'dbip-city-lite'].map((name) => path(`${name}.mmdb`))
const settings = { MERIDIAN_DATA_DIR: folder, MERIDIAN_GEO: DATABASES.join() }

const place = (country: string, region: string, city?: string): MmdbValue => ({
  country: { iso_code: country },
  subdivisions: [{ iso_code: region, names: { en: region } }],
  ...(city !== undefined && { city: { names: { en: city } }, location: LOCATIONS[city] }),
})
const LOCATIONS: Readonly<Record<string, MmdbValue>> = {
  Berlin: { latitude: 52.52, longitude: 13.4, accuracy_radius: 10 },
  Potsdam: { latitude: 52.4, longitude: 13.06 },
  Paris: { latitude: 48.85, longitude: 2.35, accuracy_radius: 10 },
}

before(() => {
  mkdirSync(path('geo'))
  writeFileSync(path('geo/regions.json'), '{"DE-BE":"Berlin","FR-IDF":"Paris"}')
  const [first = '', second = ''] = DATABASES
  const berlin = place('DE', 'BE', 'Berlin')
  writeFileSync(
    first,
    mmdbBytes({ '192.0.2.0/24': berlin, '198.51.100.0/24': berlin, '2001:db8::/32': berlin }),
  )
  const paris = place('FR', 'IDF', 'Paris')
  const options = { databaseType: 'DBIP-City-Lite' }
  writeFileSync(
    second,
    mmdbBytes({ '192.0.2.0/24': place('DE', 'BE', 'Potsdam'), '198.51.100.0/24': paris }, options),
  )
})

const accuracy = (args: readonly string[], input = '') =>
  runWithInput(['scripts/accuracy/main.ts', ...args], input, { ...inherited(), ...settings })

/** Runs the command, which must succeed, on the lines or on another file. Returns its output. */
async function measure(args: readonly string[], input = TRUTH): Promise<string> {
  const { code, stdout, stderr } = await accuracy(args, input)
  assert.equal(code, 0, stderr)
  return stdout
}

const TRUTH = [
  'prefix,country,region,city,lat,lon,kind,group',
  '192.0.2.0/25,DE,DE-BE,Berlin,52.52,13.4,isp,one',
  '192.0.2.128/25,DE,DE-BE,Berlin,52.52,13.4,isp,one',
  '198.51.100.0/24,FR,FR-IDF,Paris,48.85,2.35,isp,two',
  '2001:db8:1::/48,DE,DE-99,,,,isp,two',
  'nonsense,DE,,,,,isp,two',
].join('\n')

describe('npm run accuracy', () => {
  it('prints how often each provider, and all together, are right', async () => {
    const stdout = await measure([])
    assert.match(
      stdout,
      /^Prefixes, by one address of each: 4 \(3 IPv4, 1 IPv6\); with the coordinates of a city: 3\n/,
    )
    assert.match(stdout, /\nLeft out: 1 bad line\n {2}line 6: "nonsense" is not a n/)
    const [perPrefix = '', perGroup = ''] = stdout.split('Right, % per ').slice(1)
    assert.match(
      perPrefix,
      /^prefix, with 95 % intervals\nmeasure +prefixes +maxmind alone +dbip alone +merged\n/,
    )
    assert.match(
      perPrefix,
      /\ncountry +4 +75\.0 \[50\.0, 100\.0\] +75\.0 \[50\.0, 100\.0\] +75\.0 /,
    )
    // Answers cannot have the code DE-99, so it does not count.
    assert.match(perPrefix, /\nregion +3 +66\.7 /)
    assert.match(
      perGroup,
      /\ncity within 50 km +2 +50\.0 \[0\.0, 100\.0\] +100\.0 \[100\.0, 100\.0\] /,
    )
    assert.match(stdout, /\nAddresses for which providers name different countries: 1\n/)
  })

  it('prints all figures as JSON', async () => {
    const stdout = await measure(['--json'])
    const { truth, databases, sources, calibration, disagreements } = JSON.parse(stdout)
    assert.deepEqual(
      [truth.prefixes, truth.ipv6, truth.groups, truth.skipped.bad, truth.cities.gazetteer],
      [4, 1, 2, 1, 'not needed'],
    )
    const providers = databases.map(({ provider }: { readonly provider: string }) => provider)
    assert.deepEqual(providers, ['maxmind', 'dbip'])
    const [maxmind, dbip, merged] = sources
    assert.deepEqual([maxmind.name, dbip.name, merged.name], ['maxmind', 'dbip', 'merged'])
    assert.deepEqual(merged.scores.country.perPrefix, { value: 0.75, low: 0.5, high: 1 })
    assert.equal(merged.scores.timezone.perPrefix.value, 1)
    assert.equal(dbip.scores.within25Km.perPrefix.value, 1 / 3)
    assert.equal(maxmind.scores.insideRadius.prefixes, 3)
    assert.equal(calibration[0].stated, 'geoConfidence')
    assert.equal(disagreements.prefixes, 1)
  })

  it('prints the shares for include=confidence as the file that the server reads', async () => {
    const stdout = await measure(['--table'])
    const { date, command, prefixes, groups, databases, order, rows } = JSON.parse(stdout)
    const own = JSON.parse(readFileSync('lib/geo/place/measured-shares.json', 'utf8'))
    assert.match(date, /^\d{4}-\d\d-\d\d$/)
    assert.deepEqual([command, prefixes, groups], [own.command, 4, 2])
    assert.equal(databases.length, 2)
    assert.deepEqual(order, own.order)
    const keys = ({ product, agreement, detail }: Readonly<Record<string, unknown>>) =>
      `${product} ${agreement} ${detail}`
    assert.deepEqual(rows.map(keys), own.rows.map(keys))
    const best = rows.find((row: object) => keys({ ...row }) === 'DBIP-City-Lite none city')
    assert.ok(best.city > 0.5 && best.city < 1, JSON.stringify(best))
  })

  it('reads a geofeed, and finds coordinates of cities by their names', async () => {
    const feed = '# invented\n192.0.2.0/24,DE,DE-BE,Berlin,\n198.51.100.0/24,FR,,Xyzzy,\n'
    const stdout = await measure([], feed)
    assert.match(stdout, /^Prefixes, by one address of each: 2 \(2 IPv4, 0 IPv6\); with .*: 1\n/)
    assert.match(stdout, /\nThe file names no groups/)
    assert.match(stdout, /\nCities without coordinates: 1 found by name, 1 unknown\n.*GeoNames/)
    assert.doesNotMatch(stdout, /per group,/)
  })

  it('writes a page with plots and all tables that needs no other file', async () => {
    const file = path('out.html')
    const stdout = await measure(['--html', file, '--suggest'])
    assert.match(stdout, /^Prefixes, by one address of each: 4 /)
    const page = readFileSync(file, 'utf8')
    assert.match(page, /^<!doctype html>\n<html lang="en">/)
    assert.doesNotMatch(page, /\b(src|href)=|url\(/)
    assert.equal(page.match(/<svg class="plot" [^>]*role="img" aria-label="/g)?.length, 8)
    const wide = [...page.matchAll(/<th scope="row">([^<]+)<\/th>/g)].map(([, head]) => head)
    const some = ['country', 'city within 50 km', 'median error in km, if named', 'no provider']
    for (const head of some) assert.ok(wide.includes(head), head)
    assert.match(page, /maxmind alone, country: 75\.0 \[50\.0, 100\.0\] %/)
    assert.match(page, /No order of the providers is clearly better/)
    const elsewhere = await accuracy(['--html', path('none/out.html')], TRUTH)
    assert.equal(elsewhere.code, 1)
    assert.match(elsewhere.stderr, /Cannot write \S+out\.html: ENOENT/)
  })

  it('suggests an order of the providers only if it is clearly better', async () => {
    const french = ['198.51.100.0/25,FR,one', '198.51.100.128/26,FR,two', '192.0.2.0/24,DE,two']
    const better = await measure(['--suggest'], ['prefix,country,group', ...french].join('\n'))
    assert.match(better, /\n {2}best: dbip, maxmind\n {2}country per prefix: \+66\.7 points \[/)
    const setting = `\nMERIDIAN_GEO=${DATABASES.toReversed().join()}\n`
    assert.ok(better.endsWith(setting), better)
    const none = await accuracy(['--suggest', '--json'], TRUTH)
    const { suggestion } = JSON.parse(none.stdout)
    assert.deepEqual(suggestion.present, ['maxmind', 'dbip'])
    assert.deepEqual([suggestion.orders, suggestion.best.isClearlyBetter], [2, false])
  })

  it('refuses a file in which nothing can be measured', async () => {
    const file = path('bad.csv')
    writeFileSync(file, 'hello\n')
    const { code, stdout, stderr } = await accuracy([file])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^Cannot measure with \S+bad\.csv: it has no line with a prefix and its c/)
    const missing = await accuracy([path('none.csv')])
    assert.match(missing.stderr, /^Cannot read \S+none\.csv: ENOENT/)
  })

  it('takes one file', async () => {
    const { code, stderr } = await accuracy(['one.csv', 'two.csv'])
    assert.equal(code, 2)
    assert.match(stderr, /^Name one file\n\nUsage: /)
  })
})
