import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import type { GeofeedSetting } from '../../../lib/config/geofeed-setting.ts'
import type { NetworksOptions } from '../../../lib/geo/download/fetched-networks.ts'
import { OPTIONAL } from '../../../lib/geo/files/source-files.ts'
import { readGeofeedStates } from '../../../lib/geo/geofeeds/geofeed-states.ts'
import { ignoredLines } from '../../../lib/geo/geofeeds/ignored-lines.ts'
import { updateGeofeeds } from '../../../lib/geo/geofeeds/update-geofeeds.ts'
import { addressOf, networkOf } from '../../support/networks.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { openFileServer } from '../download/file-server.ts'
import { openFile } from '../open-file.ts'

const NOW = Date.UTC(2026, 10, 25)
const LATER = NOW + 86_400_000
const OLD = 'Mon, 23 Nov 2026 10:00:00 GMT'
const NEW = 'Tue, 24 Nov 2026 10:00:00 GMT'
const parent = tempFolder()
const server = freshly(openFileServer)
let count = 0
let geo: string
let url: string
let own: string
beforeEach(() => {
  const folder = join(parent, String(count++))
  geo = join(folder, 'geo')
  mkdirSync(folder)
  url = `${server.origin}/geofeed.csv`
  own = join(folder, 'own.csv')
})

function feed(source: string, ...blocks: readonly string[]): GeofeedSetting {
  return { source, blocks: blocks.map(networkOf) }
}

/** `size` networks in Germany. */
const germany = (size: number) =>
  Array.from({ length: size }, (_, at) => `10.0.${at}.0/24,DE\n`).join('')

function serve(text: string, lastModified?: string): void {
  const bytes = Buffer.from(text)
  server.files.set('/geofeed.csv', { bytes, ...(lastModified !== undefined && { lastModified }) })
}

function update(settings: readonly GeofeedSetting[], options: Partial<NetworksOptions> = {}) {
  const usual = { acceptSmaller: false, now: NOW, onProgress: () => {} }
  return updateGeofeeds(geo, settings, { ...usual, ...options })
}

/** The outcome of the update of one feed. */
async function outcome(setting: GeofeedSetting, options: Partial<NetworksOptions> = {}) {
  const [result] = await update([setting], options)
  assert.ok(result)
  return result.outcome === 'failed' ? result.reason : result.outcome
}

async function countryOf(text: string): Promise<string | undefined> {
  const { find } = await openFile(join(geo, OPTIONAL.geofeeds))
  return find(addressOf(text)).place?.country?.code
}

const compiledAt = () => statSync(join(geo, OPTIONAL.geofeeds)).ino
const stored = () => readdirSync(geo).filter((name) => /^geofeed-[\da-f]{12}$/.test(name))

describe('an update of geofeeds', () => {
  it('keeps every region, by its name in ISO 3166-2 or else by its code', async () => {
    writeFileSync(own, '10.1.0.0/24,IT,IT-MI,Milano,\n10.2.0.0/24,PL,PL-MZ,,\n')
    await update([feed(own, '10.0.0.0/8')])
    const { find } = await openFile(join(geo, OPTIONAL.geofeeds))
    const regionOf = (text: string) => find(addressOf(text)).place?.region
    assert.deepEqual(regionOf('10.1.0.1'), { code: 'IT-MI', name: 'Milan' })
    assert.deepEqual(regionOf('10.2.0.1'), { code: 'PL-MZ', name: 'PL-MZ' })
  })

  it('leaves what it ignores to be listed: of URLs in the version that is used', async () => {
    const settings = [feed(url, '10.0.0.0/8'), feed(own, '2001:db8::/32')]
    serve(`${germany(9)}11.0.0.0/8,DE\n${'bad\n'.repeat(7)}`)
    await update(settings)
    serve('bad')
    await update(settings)
    const [outside, ...others] = await ignoredLines(geo, settings)
    assert.equal(outside, `${url}: line 10: 11.0.0.0/8 is outside the blocks of the feed`)
    assert.equal(others.length, 7 + 1)
    assert.match(others.at(-1) ?? '', /own\.csv: ENOENT/)
  })

  it('fetches URLs, reads files and compiles both', async () => {
    serve(germany(4), OLD)
    writeFileSync(own, '2001:db8::/32,FR\n2001:db9::/32,FR\nbad')
    const settings = [feed(url, '10.0.0.0/8'), feed(own, '2001:db8::/32')]
    assert.deepEqual(await update(settings), [
      { name: url, outcome: 'accepted', networks: 4 },
      { name: own, outcome: 'accepted', networks: 1 },
    ])
    assert.equal(await countryOf('10.0.3.1'), 'DE')
    assert.equal(await countryOf('2001:db8::1'), 'FR')
    const { feeds } = readGeofeedStates(geo)
    const counts = { outside: 0, bad: 0, examples: [] }
    const first = { source: url, checkedAt: NOW, entries: 4, modifiedAt: Date.parse(OLD) }
    const examples = [
      'line 2: 2001:db9::/32 is outside the blocks of the feed',
      'line 3: "bad" is not a network such as 10.0.0.0/8',
    ]
    const second = { source: own, checkedAt: NOW, entries: 1, outside: 1, bad: 1, examples }
    assert.deepEqual(feeds, [{ ...first, ...counts }, second])
    const names = [...stored(), 'geofeeds.json', OPTIONAL.geofeeds]
    assert.deepEqual(readdirSync(geo).toSorted(), names.toSorted())
  })

  it('asks only for a newer version, and compiles nothing if there is none', async () => {
    serve(germany(4), OLD)
    const setting = feed(url, '10.0.0.0/8')
    await update([setting])
    const before = compiledAt()
    assert.equal(await outcome(setting, { now: LATER }), 'up-to-date')
    const since = server.requests.map(({ headers }) => headers['if-modified-since'])
    assert.deepEqual(since, [undefined, OLD])
    const [state] = readGeofeedStates(geo).feeds
    assert.deepEqual([state?.checkedAt, state?.modifiedAt], [LATER, Date.parse(OLD)])
    assert.equal(compiledAt(), before)
    serve('10.0.0.0/24,FR\n10.0.1.0/24,FR', NEW)
    assert.equal(await outcome(setting), 'accepted')
    assert.equal(await countryOf('10.0.0.1'), 'FR')
  })

  it('compiles nothing if a server without Last-Modified sends the same again', async () => {
    serve(germany(4))
    await update([feed(url, '10.0.0.0/8')])
    const before = compiledAt()
    assert.equal(await outcome(feed(url, '10.0.0.0/8')), 'up-to-date')
    assert.equal(compiledAt(), before)
  })

  it('follows the blocks of the settings at once, without another version', async () => {
    serve(germany(4), OLD)
    await update([feed(url, '10.0.0.0/8')])
    assert.equal(await outcome(feed(url, '10.0.0.0/24')), 'up-to-date')
    assert.equal(await countryOf('10.0.0.1'), 'DE')
    assert.equal(await countryOf('10.0.1.1'), undefined)
    assert.equal(readGeofeedStates(geo).feeds[0]?.outside, 3)
  })

  it('removes what the settings no longer name', async () => {
    writeFileSync(own, germany(4))
    serve('11.0.0.0/8,FR')
    await update([feed(url, '11.0.0.0/8'), feed(own, '10.0.0.0/8')])
    assert.equal(stored().length, 2)
    await update([feed(own, '10.0.0.0/8')])
    assert.equal(stored().length, 1)
    assert.equal(await countryOf('11.0.0.1'), undefined)
    assert.equal(await countryOf('10.0.0.1'), 'DE')
  })

  it('compiles again if only the result is missing', async () => {
    writeFileSync(own, germany(4))
    await update([feed(own, '10.0.0.0/8')])
    rmSync(join(geo, OPTIONAL.geofeeds))
    assert.equal(await outcome(feed(own, '10.0.0.0/8')), 'up-to-date')
    assert.equal(await countryOf('10.0.0.1'), 'DE')
  })
})

describe('a new version of a geofeed that makes no sense', () => {
  const setting = () => feed(url, '10.0.0.0/8')
  beforeEach(async () => {
    serve(germany(10), OLD)
    await update([setting()])
  })

  const texts = [
    ['is a page', '<html>moved</html>', /^it is a page, not a geofeed$/],
    ['is empty', '# nothing', /^it has no entries within its blocks$/],
    ['is outside the blocks', '11.0.0.0/8,FR', /within its blocks, such as line 1: 11\.0\.0\.0\/8/],
    ['has shrunk', germany(4), /^it has 4 networks, less than half of the 10 before; --accept/],
    ['is mostly bad', `${germany(10)}${'x\n'.repeat(11)}`, /^11 of its 21 lines are not entries/],
  ] as const
  for (const [name, text, reason] of texts) {
    it(`because it ${name} is refused; the earlier one stays`, async () => {
      serve(text, NEW)
      assert.match(await outcome(setting(), { now: LATER }), reason)
      assert.equal(await countryOf('10.0.9.1'), 'DE')
      const [state] = readGeofeedStates(geo).feeds
      assert.deepEqual([state?.checkedAt, state?.failure?.at, state?.entries], [NOW, LATER, 10])
    })
  }

  it('because it has shrunk is accepted on demand', async () => {
    serve(germany(4), NEW)
    assert.equal(await outcome(setting(), { acceptSmaller: true }), 'accepted')
    assert.equal(readGeofeedStates(geo).feeds[0]?.failure, undefined)
  })
})

describe('a file with a geofeed', () => {
  it('may shrink, since its operator has written it', async () => {
    writeFileSync(own, germany(10))
    await update([feed(own, '10.0.0.0/8')])
    writeFileSync(own, germany(1))
    assert.equal(await outcome(feed(own, '10.0.0.0/8')), 'accepted')
  })

  it('keeps its earlier version if it is missing or a page, and other geofeeds work', async () => {
    writeFileSync(own, germany(2))
    serve('11.0.0.0/8,FR')
    const settings = [feed(own, '10.0.0.0/8'), feed(url, '11.0.0.0/8')]
    await update(settings)
    for (const spoil of [() => writeFileSync(own, '<html>'), () => rmSync(own)]) {
      spoil()
      const [first, second] = await update(settings)
      assert.deepEqual([first?.outcome, second?.outcome], ['failed', 'up-to-date'])
      assert.equal(await countryOf('10.0.0.1'), 'DE')
    }
  })

  it('that was never usable leaves nothing to compile', async () => {
    assert.match(await outcome(feed(own, '10.0.0.0/8')), /ENOENT/)
    assert.deepEqual(readdirSync(geo), ['geofeeds.json'])
  })
})

describe('a server of a geofeed', () => {
  const setting = () => feed(url, '10.0.0.0/8')

  it('that refuses, cuts or falls silent is reported with the URL', async () => {
    assert.match(await outcome(setting()), /^Cannot download http.*geofeed\.csv: .* answered 404$/)
    serve(germany(4))
    server.silentAfter = 10
    assert.match(await outcome(setting(), { idleMs: 20 }), /no data arrived for 0\.02 s; try again/)
  })

  it('that sends too much is cut off', async () => {
    server.intercept = (_, response) => {
      response.writeHead(200, { 'content-length': 2 ** 25 + 1 })
      response.write('10.0.0.0/8,DE')
      return true
    }
    assert.match(await outcome(setting()), /larger than 33554432 bytes/)
  })

  const redirect = (to: string) => {
    server.intercept = ({ url: path }, response) => {
      if (path !== '/geofeed.csv') return false
      response.writeHead(302, { location: to }).end()
      return true
    }
  }

  it('may redirect within its origin', async () => {
    server.files.set('/new.csv', { bytes: Buffer.from(germany(2)) })
    redirect('/new.csv')
    assert.equal(await outcome(setting()), 'accepted')
  })

  for (const [name, to] of [
    ['without end', '/geofeed.csv'],
    ['to http', 'http://example.net/geofeed.csv'],
    ['to another scheme', 'file:///etc/passwd'],
    ['to a private address', 'https://10.0.0.1/geofeed.csv'],
    ['to loopback', 'https://127.0.0.1:1/geofeed.csv'],
    ['to loopback over IPv6', 'https://[::1]/geofeed.csv'],
    ['to this machine', 'https://localhost/geofeed.csv'],
    ['with a password', 'https://a:b@8.8.8.8/geofeed.csv'],
    ['to no URL', 'https://'],
  ] as const) {
    it(`must not redirect ${name}`, async () => {
      redirect(to)
      const reason = await outcome(setting())
      assert.match(reason, /redirected (more than 5 times|to ".*", which is not https on a public)/)
    })
  }
})
