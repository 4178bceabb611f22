import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { DAY_MS } from '../../lib/parts/durations.ts'
import { silentLog } from '../../lib/parts/log/log.ts'
import { openDownloads } from '../../lib/services/geo/downloads.ts'
import type { Services } from '../../lib/services/services.ts'
import { mmdbBytes } from '../support/geo-files.ts'
import { makeApp, NOON, type TestApp } from '../support/helpers.ts'
import { closedAfterTest } from '../support/scene/freshly.ts'
import { freshScene } from '../support/scene/scene.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { actionsOf } from './operator.ts'

const closed = closedAfterTest()

const app = freshScene()
const olga = app.operator('olga')

const PAGE = '/app/operate/databases'
const DOWNLOAD = `${PAGE}/download`
const folder = tempFolder()
let count = 0

function writeDatabase(path: string, builtAt: number): void {
  const bytes = mmdbBytes({ '1.0.0.0/8': { country: { iso_code: 'DE' } } }, { builtAt })
  writeFileSync(`${path}.new`, bytes)
  renameSync(`${path}.new`, path)
}

/** A service with databases of these times, and its operator. */
async function openWith(...builtAt: readonly number[]) {
  const files = builtAt.map((at) => {
    const file = join(folder, `Mine-${count++}.mmdb`)
    writeDatabase(file, at)
    return file
  })
  const [file = ''] = files
  const app = closed(await makeApp({ env: { MERIDIAN_GEO: files.join(',') } }))
  const olga = app.operator('olga')
  const show = async () => (await olga.visit(PAGE)).html
  const refresh = async () => {
    for (let looks = 0; looks < 2; looks++) await app.services.geo.refresh()
  }
  return { app, file, show, refresh }
}

/** A service that downloads with `download`, and its operator. */
async function openDownloading(download: () => Promise<void>, env: Record<string, string> = {}) {
  const replace = ({ config, now }: Services): Partial<Services> => {
    const geo = { ...config.geo, files: undefined }
    const own = { config: { ...config, geo }, log: silentLog, now }
    return { downloads: openDownloads(own, download, new AsyncDisposableStack()) }
  }
  const app = closed(await makeApp({ replace, env }))
  return { app, olga: app.operator('olga') }
}

const settled = ({ services }: TestApp) => services.downloads?.job.settled()

describe('the page of the databases', () => {
  it('shows each database with its provider, type, age, size and file', async () => {
    const { file, show } = await openWith(NOON - 3 * DAY_MS)
    const html = await show()
    assert.match(html, /<th scope="row">Mine-0 <span class="badge good">Current/)
    for (const text of ['>MaxMind<', '>GeoLite2 City<', '3 days ago', file])
      assert.ok(html.includes(text), text)
    assert.match(html, /data-head="Size">\d+\.\d\u00a0kB/)
    assert.match(html, /data-head="In use since"><time datetime="2026-01-15T12:00:00/)
  })

  it('warns of a database that is older than providers let theirs become', async () => {
    const { show } = await openWith(NOON - 46 * DAY_MS)
    assert.match(
      await show(),
      /1 database is old: MERIDIAN_GEO says which files are used\. To renew.*badge near">Old</,
    )
  })

  it('says once why several databases are old', async () => {
    const html = await (await openWith(NOON - 46 * DAY_MS, NOON - 47 * DAY_MS, NOON)).show()
    assert.equal(html.match(/badge near">Old</g)?.length, 2)
    assert.deepEqual(html.match(/\d+ databases? (?:is|are) old: [^<]*/g), [
      '2 databases are old: MERIDIAN_GEO says which files are used. To renew, put newer files in their place.',
    ])
  })

  it('shows why a new version was refused, and that the earlier one is served', async () => {
    const { file, show, refresh } = await openWith(NOON)
    writeFileSync(file, 'no database')
    await refresh()
    const html = await show()
    assert.match(html, /badge error">Earlier version/)
    const refusal =
      /role="alert">A new version of Mine-\d+ was refused .*metadata.* earlier version is served/
    assert.match(html, refusal)
    writeDatabase(file, NOON - DAY_MS)
    await refresh()
    assert.match(await show(), /A new version of Mine-\d+ was refused.*badge good">Current/)
  })

  it('shows the age of the free lists, and why one was refused', async () => {
    const { app, show } = await openWith(NOON)
    assert.doesNotMatch(await show(), /Free lists/)
    const failure = { at: NOON - DAY_MS, reason: 'it has 3 networks; at least 100 are expected' }
    const states = { aws: { checkedAt: NOON - DAY_MS, networks: 12_345 }, tor: { failure } }
    writeFileSync(join(app.dataDir, 'geo', 'lists.json'), JSON.stringify(states))
    const html = await show()
    assert.match(
      html,
      /<th scope="row">Amazon AWS<\/th><td[^>]*>12,345<\/td><td[^>]*><time datetime="2026-01-14T12:00:00/,
    )
    assert.match(
      html,
      /<th scope="row">Tor exits<\/th><td[^>]*><\/td><td[^>]*>.*Never.*<\/time>: it has 3 networks; at least/,
    )
  })

  it('shows the geofeeds of the settings, what they ignore, and why one was refused', async () => {
    await using app = await makeApp({ env: { MERIDIAN_GEOFEEDS: 'own.csv=10.0.0.0/8' } })
    const olga = app.operator('olga')
    const show = async () => (await olga.visit(PAGE)).html
    assert.doesNotMatch(await show(), /Geofeeds/)
    const examples = ['line 7: "<b>" is not a network such as 10.0.0.0/8']
    const counts = { entries: 1_234, outside: 5, bad: 1, examples }
    const failure = { at: NOON - DAY_MS, reason: 'it is a page, not a geofeed' }
    const feeds = [
      { source: 'own.csv', checkedAt: NOON - DAY_MS, ...counts },
      { source: 'https://example.net/', failure },
    ]
    const states = { signature: '', updatedAt: NOON, feeds }
    writeFileSync(join(app.dataDir, 'geo', 'geofeeds.json'), JSON.stringify(states))
    const html = await show()
    assert.match(
      html,
      /<th scope="row">own\.csv<\/th><td[^>]*>1,234<\/td><td[^>]*>5<\/td><td[^>]*>1<\/td><td[^>]*><time datetime="2026-01-14T12.*line 7: &quot;&lt;b&gt;&quot; is not/,
    )
    assert.match(html, /example\.net\/<\/th>.*Never.*<\/time>: it is a page, not a geofeed/)
  })

  it('says that the server does not download, and refuses to', async () => {
    const shown = (await olga.visit(PAGE)).html
    assert.match(shown, /does not download databases: MERIDIAN_GEO names the files/)
    const { status, html } = await olga.submit(DOWNLOAD)
    assert.equal(status, 400)
    assert.match(html, /role="alert">This server does not download databases/)
    assert.deepEqual(await actionsOf(app), [])
  })
})

describe('a download that an operator starts', () => {
  it('comes after the databases in use, which are one table', async () => {
    const { olga } = await openDownloading(async () => {})
    const { html } = await olga.visit(PAGE)
    const main = html.slice(html.indexOf('<main'))
    const titles = [...main.matchAll(/<h2[^>]*>([^<]*)/g)].map(([, title]) => title)
    assert.deepEqual(titles, ['In use', 'Download', 'MaxMind&#39;s account'])
  })

  it('runs once at a time, is audited, and is followed by the page', async () => {
    const downloaded = Promise.withResolvers<void>()
    const { app, olga } = await openDownloading(() => downloaded.promise)
    const { status, location } = await olga.submit(DOWNLOAD)
    assert.deepEqual([status, location], [303, PAGE])
    await olga.submit(DOWNLOAD)
    const { html } = await olga.visit(PAGE)
    assert.match(html, /id="databases" class="job" data-refresh="2".*Downloading since/)
    downloaded.resolve()
    await settled(app)
    const after = await olga.visit(PAGE)
    assert.match(after.html, /id="databases" class="job"><p class="soft">The last download ended/)
    const action = { action: 'download_databases', target: null, detail: null }
    assert.deepEqual(await actionsOf(app), [{ app: 'dashboard', ...action }])
  })

  it('is possible, too, if the setting turns the daily one off', async () => {
    const on = await openDownloading(async () => {})
    assert.match((await on.olga.visit(PAGE)).html, /looks for newer databases once a day/)
    const off = await openDownloading(async () => {}, { MERIDIAN_GEO_DOWNLOAD: '0' })
    assert.match((await off.olga.visit(PAGE)).html, /MERIDIAN_GEO_DOWNLOAD=0 turns the daily/)
    await off.olga.submit(DOWNLOAD)
    await settled(off.app)
    assert.match((await off.olga.visit(PAGE)).html, /The last download ended/)
  })

  it('shows why it was refused', async () => {
    const reason = 'GeoLite2 City: the server answered 401: MERIDIAN_MAXMIND_LICENSE_KEY is wrong'
    const { app, olga } = await openDownloading(() => Promise.reject(new Error(reason)))
    await olga.submit(DOWNLOAD)
    await settled(app)
    const { status, html } = await olga.visit(PAGE)
    assert.equal(status, 200)
    assert.match(html, /role="alert">Failed .*: GeoLite2 City: the server answered 401/)
  })

  it('does not start if it cannot be recorded: the disk is read-only', async () => {
    const { app, olga } = await openDownloading(async () => assert.fail('it has started'))
    await olga.enter()
    app.setReadOnly(true)
    const { status, html } = await olga.submit(DOWNLOAD)
    app.setReadOnly(false)
    assert.equal(status, 503)
    assert.match(html, /role="alert">The database cannot be used now/)
    assert.equal(app.services.downloads?.job.state().last, null)
  })

  it('leads back to the page if its address is opened', async () => {
    const { status, location } = await olga.visit(DOWNLOAD)
    assert.deepEqual([status, location], [303, PAGE])
  })

  it('is refused from other sites', async () => {
    const { olga } = await openDownloading(async () => assert.fail('it has started'))
    const headers = { 'sec-fetch-site': 'cross-site' }
    assert.equal((await olga.submit(DOWNLOAD, {}, { headers })).status, 403)
  })
})
