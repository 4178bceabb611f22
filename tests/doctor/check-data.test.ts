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
  whyOld,
} from '../../lib/doctor/check-age.ts'
import { checkDisk, readDisk } from '../../lib/doctor/check-disk.ts'
import { checkGeofeeds } from '../../lib/doctor/check-geofeeds.ts'
import { checkLists } from '../../lib/doctor/check-lists.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import { quickChecks } from '../../lib/services/operate/quick-checks.ts'
import { readGeoFiles } from '../../scripts/parts/geo-files.ts'
import { makeDataFolder } from '../support/data-folder.ts'
import { NOON } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { allLines, lines, matches } from './findings.ts'

const folder = tempFolder()
const RENEWED = { isOwn: false, isRegular: true, hasAccount: false }

describe('checkGeo', () => {
  const builtAt = (days: number) => new Date(NOON - days * DAY_MS).toISOString()

  it('reports the age of the files', () => {
    const files = [
      { name: 'a', provider: 'dbip', builtAt: builtAt(45) },
      { name: 'b', provider: 'dbip', builtAt: builtAt(46) },
    ]
    matches(checkGeo(files, RENEWED, NOON), /^warning: b \(46 days\) is old: no downl/, /^ok$/)
  })

  it('says each reason once, for all databases that are old for it, by their names', () => {
    const files = [
      { name: 'GeoLite2-City', provider: 'maxmind', builtAt: builtAt(72) },
      { name: 'dbip-city-ipv4', provider: 'dbip', builtAt: builtAt(46) },
      { name: 'asn', provider: 'ip-location-db', builtAt: builtAt(165) },
    ]
    const texts = checkGeo(files, RENEWED, NOON).map(({ text }) => text)
    assert.deepEqual(texts, [
      "GeoLite2 City (72 days) and ASN (165 days) are old: a newer one needs MaxMind's free account",
      'DB-IP City Lite, IPv4 (46 days) is old: no download has brought a newer one',
    ])
  })

  it('says why a database is old, and what to do', () => {
    const text = (provider: string, changed: Partial<typeof RENEWED>) => {
      const file = { name: 'b', provider, builtAt: builtAt(46) }
      return allLines(checkGeo([file], { ...RENEWED, ...changed }, NOON)).join()
    }
    assert.match(text('dbip', {}), /: no download has brought .* → run: npm run geo -- --download$/)
    assert.match(text('dbip', { isRegular: false }), /MERIDIAN_GEO_DOWNLOAD=0 .* → unset it, or/)
    for (const provider of ['maxmind', 'ip-location-db']) {
      assert.match(
        text(provider, {}),
        /: a newer one needs MaxMind's free account → enter it on the page /,
      )
      assert.match(text(provider, { hasAccount: true }), /: no download has brought a newer one/)
    }
    assert.match(
      text('maxmind', { isOwn: true }),
      /: MERIDIAN_GEO says which files are used → put newer files/,
    )
  })

  it('says on the page of the databases what its forms do, not its address or a command', () => {
    const onPage = (provider: string, changed: Partial<typeof RENEWED>) =>
      whyOld(provider, { ...RENEWED, ...changed }).onPage
    assert.equal(onPage('maxmind', {}), 'enter its ID and licence key below')
    for (const changed of [{ hasAccount: true }, { isRegular: false, hasAccount: true }]) {
      assert.equal(onPage('maxmind', changed), 'press Download now')
    }
    assert.equal(onPage('dbip', { isOwn: true }), 'put newer files in their place')
  })

  it('reports files that cannot be served', () => {
    const problem = 'Cannot use the database c: it is damaged'
    const check = (hasLastUsable: boolean) =>
      checkGeo([{ name: 'c', problem, hasLastUsable }], RENEWED, NOON)
    const wrong = 'wrong: Cannot use the database c: .* → a server'
    matches(check(false), new RegExp(`^${wrong} does not start: replace`))
    matches(check(true), new RegExp(`^${wrong} serves its last usable v`))
  })

  it('says that the next start prepares what a folder does not have yet', async () => {
    const { dataDir } = await makeDataFolder(folder)
    rmSync(join(dataDir, 'geo'), { recursive: true, force: true })
    const files = await readGeoFiles(readConfig({ MERIDIAN_DATA_DIR: dataDir }))
    const wrong = lines(checkGeo(files, RENEWED, Date.now())).filter((line) =>
      line.startsWith('wrong'),
    )
    assert.deepEqual(wrong, [])
    const named = await readGeoFiles(readConfig({ MERIDIAN_GEO: join(dataDir, 'none.mmdb') }))
    matches(checkGeo(named, RENEWED, NOON), /^wrong: Cannot use the database .* does not start/)
  })

  it('names the release of the timezone data', () => {
    const found = checkTimezones({ source: 'runtime', release: '2026c' })
    assert.deepEqual(found, { state: 'ok', text: 'Timezone data 2026c, from runtime' })
  })
})

describe('checkDownloads', () => {
  it('reports when the server last checked for newer databases', () => {
    assert.deepEqual(lines([checkDownloads(NOON - 3 * DAY_MS, NOON)]), ['ok'])
    const late = [checkDownloads(NOON - 73 * HOUR_MS, NOON)]
    matches(late, /^warning: .* 73 hours ago → .*: npm run geo/)
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

const MB = 1e6

describe('checkDisk', () => {
  const sizes = { free: 10_000 * MB, freeFiles: undefined, database: 100 * MB, log: 4 * MB }
  const wide = { ...sizes, isReadOnly: false }

  it('finds no problem if there is room', async () => {
    assert.deepEqual(lines(checkDisk(wide)), ['ok'])
    const { dataDir } = await makeDataFolder(folder)
    const read = readDisk(dataDir)
    assert.ok(read.free > 0 && read.database > 0)
    assert.equal(checkDisk(read).length, 1)
  })

  it('warns if there may be no room for a backup', () => {
    matches(checkDisk({ ...wide, free: 900 * MB }), /^warning: 900.0 MB are free/)
    matches(checkDisk({ ...wide, database: 5_000 * MB }), /the database takes 5.0 GB → make room/)
  })

  it('names no database where PostgreSQL has it', async () => {
    const { dataDir } = await makeDataFolder(folder)
    const find = async (env: Record<string, string>) => {
      const config = readConfig({ MERIDIAN_DATA_DIR: dataDir, ...env })
      const checks = quickChecks({
        config,
        findAccount: async () => null,
        readGeoFiles: async () => [],
        now: Date.now,
      })
      return allLines((await checks.find(({ name }) => name === 'Disk')?.find()) ?? []).join()
    }
    assert.match(await find({}), /are free; the database takes \d/)
    const url = 'postgres://127.0.0.1/meridian'
    const shared = { MERIDIAN_DATABASE_URL: url, MERIDIAN_SECRET: 'x'.repeat(44) }
    assert.match(await find(shared), /are free(?!;)/)
  })

  it('finds a disk that is nearly full', () => {
    matches(checkDisk({ ...wide, free: 99 * MB }), /^wrong: 99.0 MB are free/)
    const crowded = checkDisk({ ...wide, freeFiles: 999 })
    matches(crowded, /^wrong: The disk has room for only 999 more files/)
  })

  it('finds a disk that is read-only', () => {
    matches(checkDisk({ ...wide, isReadOnly: true }), /^wrong: The disk is read-only → see dmesg/)
  })

  it('warns of a write-ahead log that keeps growing', () => {
    matches(
      checkDisk({ ...wide, log: 129 * MB }),
      /^warning: .*grown to 129.0 MB → check that Lites/,
    )
  })
})

describe('checkGeofeeds', () => {
  const check = (...feeds: Parameters<typeof checkGeofeeds>[0]) => checkGeofeeds(feeds, NOON)
  const fresh = { source: 'own.csv', checkedAt: NOON - DAY_MS, entries: 7 }

  it('shows the age and the networks of each', () => {
    assert.deepEqual(allLines(check(fresh)), [
      'ok: The geofeed own.csv was up to date 1 day ago, with 7 networks',
    ])
  })

  it('warns if they were never updated, or not for days', () => {
    matches(check(), /^warning: The geofeeds were never updated → run: npm run geo -- --download$/)
    const old = 'warning: The geofeed own\\.csv was up to date 4 days ago'
    const update = new RegExp(`^${old} → run: npm run geo -- --download$`)
    matches(check({ ...fresh, checkedAt: NOON - 4 * DAY_MS }), update)
  })

  it('warns of a failed update, with the age of the version in use', () => {
    const failure = { reason: 'it is a page, not a geofeed' }
    matches(check({ ...fresh, failure }), /own\.csv was up to date 1 day ago: it is a page, not a/)
    matches(check({ source: 'own.csv', failure }), /own\.csv was never usable: it is a page/)
  })

  it('warns of ignored lines, with examples', () => {
    matches(
      check({ ...fresh, outside: 2, bad: 1, examples: ['line 3: why', 'line 5: why not'] }),
      /ago; 2 of its entries are outside its blocks and 1 lines are bad: line 3: why; line 5: why not → name/,
    )
  })
})

describe('checkGeo', () => {
  it('does not call files old that change only with their contents', () => {
    const builtAt = new Date(NOON - 400 * DAY_MS).toISOString()
    const own = ['overlay', 'geofeeds'].map((name) => ({ name, provider: name, builtAt }))
    assert.deepEqual(lines(checkGeo(own, RENEWED, NOON)), ['ok', 'ok'])
  })
})

describe('checkLists', () => {
  const check = (...lists: Parameters<typeof checkLists>[0]) => checkLists(lists, NOON)
  const fresh = { name: 'AWS', checkedAt: NOON - DAY_MS }

  it('finds nothing if no list was downloaded', () => {
    assert.deepEqual(check(), [])
  })

  it('shows the age of the oldest', () => {
    assert.deepEqual(allLines(check(fresh, { name: 'Tor', checkedAt: NOON - 7 * DAY_MS })), [
      'ok: 2 free lists, the oldest was up to date 7 days ago',
    ])
  })

  it('warns of an old list', () => {
    const old = check(fresh, { name: 'Tor', checkedAt: NOON - 8 * DAY_MS })
    matches(
      old,
      /^warning: The list Tor was up to date 8 days ago → run: npm run geo -- --download$/,
    )
  })

  it('warns of a failed or refused download, with the age of the list in use', () => {
    const failure = { reason: 'it has 3 networks; at least 100 are expected' }
    const list = 'warning: The list AWS was'
    const kept = 'up to date 1 day ago: it has 3 networks.* → its earlier version'
    matches(check({ ...fresh, failure }), new RegExp(`^${list} ${kept}`))
    matches(check({ name: 'AWS', failure }), new RegExp(`^${list} never downloaded: it has 3`))
  })
})
