import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'
import { OPTIONAL } from '../../../lib/geo/files/source-files.ts'
import { readGeofeedStates } from '../../../lib/geo/geofeeds/geofeed-states.ts'
import { updateGeofeeds } from '../../../lib/geo/geofeeds/update-geofeeds.ts'
import { listCountries } from '../../../lib/geo/place/countries.ts'
import { type LocationFinding, WITHHELD } from '../../../lib/geo/place/finding.ts'
import { addressOf, networkOf } from '../../support/networks.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openFile } from '../open-file.ts'
import { BLOCKS, publishedGeofeeds } from './published-geofeeds.ts'

const SCRIPT = fileURLToPath(new URL('./geofeeds.py', import.meta.url))
const RANDOM_ADDRESSES = 100_000
const LINES = 4_000
const REGIONS = {
  'DE-BE': 'State of Berlin',
  'DE-BY': 'Bavaria',
  'US-CA': 'California',
  'GB-ENG': 'England',
  'JP-13': 'Tokyo',
}

const Expected = v.object({
  counts: v.array(v.array(v.number())),
  found: v.record(
    v.string(),
    v.nullable(v.union([v.literal('no place'), v.array(v.nullable(v.string()))])),
  ),
})

/** In the words of the script. */
function stateOf(finding: LocationFinding) {
  if (finding === WITHHELD) return 'no place'
  if (finding.place === undefined) return null
  const { country, region, city } = finding.place
  return [country?.code ?? null, region?.code ?? null, city ?? null]
}

describe('compiled geofeeds', () => {
  const folder = tempFolder()
  const geo = join(folder, 'geo')
  const write = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  let paths: string[]

  before(async () => {
    mkdirSync(geo)
    writeFileSync(join(geo, 'regions.json'), JSON.stringify(REGIONS))
    paths = publishedGeofeeds(8805, LINES).map((text, at) => write(`${at}.csv`, text))
    const blocksOf = (at: number) => (BLOCKS[at] ?? []).map(networkOf)
    const settings = paths.map((source, at) => ({ source, blocks: blocksOf(at) }))
    const options = { acceptSmaller: false, now: 0, onProgress: () => {} }
    const results = await updateGeofeeds(geo, settings, options)
    const refused = results.filter(({ outcome }) => outcome !== 'accepted')
    assert.deepEqual(refused, [])
  })

  it("state what Python's csv and ipaddress modules find in the feeds", async (t) => {
    const feeds = paths.map((path, at) => [path, BLOCKS[at]])
    const args = [
      write('feeds.json', JSON.stringify(feeds)),
      write('countries.json', JSON.stringify(listCountries().map(({ code }) => code))),
      String(RANDOM_ADDRESSES),
    ]
    const printed = execFileSync('python3', [SCRIPT, ...args], { maxBuffer: 2 ** 28 })
    const { counts, found } = v.parse(Expected, JSON.parse(printed.toString()))
    const states = readGeofeedStates(geo).feeds
    const counted = states.map(({ entries, outside, bad }) => [entries, outside, bad])
    assert.deepEqual(counted, counts)
    const { find } = await openFile(join(geo, OPTIONAL.geofeeds))
    const tally = { nothing: 0, withheld: 0, places: 0 }
    for (const [text, expected] of Object.entries(found)) {
      assert.deepEqual(stateOf(find(addressOf(text))), expected, text)
      if (expected === null) tally.nothing++
      else if (expected === 'no place') tally.withheld++
      else tally.places++
    }
    t.diagnostic(`${JSON.stringify(tally)}, entries, outside and bad: ${JSON.stringify(counts)}`)
    assert.ok(
      Math.min(...Object.values(tally)) > 1_000 && Object.keys(found).length > RANDOM_ADDRESSES,
    )
  })
})
