import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readConfig } from '../../lib/config/config.ts'
import {
  checkBackups,
  checkDownloads,
  checkGeo,
  checkTimezones,
} from '../../lib/doctor/check-age.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import { readGeoFiles } from '../../scripts/parts/geo-files.ts'
import { makeDataFolder } from '../support/data-folder.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { lines, matches } from './findings.ts'

const folder = tempFolder()

describe('checkGeo', () => {
  const builtAt = (days: number) => new Date(NOON - days * DAY_MS).toISOString()

  it('reports the age of the files', () => {
    const files = [
      { name: 'a', builtAt: builtAt(45) },
      { name: 'b', builtAt: builtAt(46) },
    ]
    matches(checkGeo(files, NOON), /^ok$/, /^warning: b was built 46 days ago → fetch a newer one/)
  })

  it('reports files that cannot be served', () => {
    const problem = 'Cannot use the database c: it is damaged'
    const check = (hasLastUsable: boolean) =>
      checkGeo([{ name: 'c', problem, hasLastUsable }], NOON)
    matches(
      check(false),
      /^wrong: Cannot use the database c: .* → a server does not start: replace/,
    )
    matches(
      check(true),
      /^wrong: Cannot use the database c: .* → a server serves its last usable v/,
    )
  })

  it('says that the next start prepares what a folder does not have yet', async () => {
    const { dataDir } = await makeDataFolder(folder)
    rmSync(join(dataDir, 'geo'), { recursive: true, force: true })
    const files = await readGeoFiles(readConfig({ MERIDIAN_DATA_DIR: dataDir }))
    const wrong = lines(checkGeo(files, Date.now())).filter((line) => line.startsWith('wrong'))
    assert.deepEqual(wrong, [])
    const named = await readGeoFiles(readConfig({ MERIDIAN_GEO: join(dataDir, 'none.mmdb') }))
    matches(checkGeo(named, NOON), /^wrong: Cannot use the database .* does not start/)
  })

  it('names the release of the timezone data', () => {
    assert.deepEqual(checkTimezones({ source: 'runtime', release: '2026c' }), {
      state: 'ok',
      text: 'Timezone data 2026c, from runtime',
    })
  })
})

describe('checkDownloads', () => {
  it('reports when the server last checked for newer databases', () => {
    assert.deepEqual(lines([checkDownloads(NOON - 3 * DAY_MS, NOON)]), ['ok'])
    matches(
      [checkDownloads(NOON - 73 * HOUR_MS, NOON)],
      /^warning: .* 73 hours ago → .*: npm run geo/,
    )
    matches([checkDownloads(0, NOON)], /^warning: The server has never checked .*: npm run geo/)
  })
})

describe('checkBackups', () => {
  it('warns if the latest backup is older than two days', () => {
    const check = (latest?: number) => [checkBackups('x', latest, NOON)]
    assert.deepEqual(lines(check(NOON - 48 * HOUR_MS)), ['ok'])
    matches(check(NOON - 49 * HOUR_MS), /^warning: .* is 49 hours old → run npm/)
    matches(check(), /^warning: There is no backup in x → run npm run b/)
  })
})
