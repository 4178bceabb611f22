import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readConfig } from '../../../lib/config/config.ts'
import { runLowPriority } from '../../../lib/parts/process/run-script.ts'
import { type Downloads, openDownloads } from '../../../lib/services/geo/downloads.ts'
import { recordingLog } from '../../support/helpers.ts'
import { LOADER } from '../../support/runtime.ts'
import {
  APRIL_TIME,
  AUTHORIZATION,
  april,
  CITY,
  LICENSE_KEY,
  march,
  openProviders,
  type Providers,
} from './providers.ts'

/* Downloads of a server, in the process that it starts for them. */

const MINUTE = 60_000
const HOUR = 60 * MINUTE
/** Longer than the first wait of any server (5 minutes) or the one after a failure (15), each with its random half hour. */
const LATER = 46 * MINUTE

let at: Providers
let now: number
let log: ReturnType<typeof recordingLog>
let opening: AsyncDisposableStack
let downloads: Downloads
beforeEach(async () => {
  settings = {}
  at = await openProviders()
  serveDbip()
  at.serveAll()
  now = Date.now()
  log = recordingLog()
  opening = new AsyncDisposableStack()
  downloads = open()
})
afterEach(async () => {
  await opening.disposeAsync()
  await at[Symbol.asyncDispose]()
})

/** The process requests the current month's file by the real clock, and the month may end. */
function serveDbip(): void {
  const date = new Date()
  for (const ago of [0, 1]) {
    const month = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - ago))
    const url = `/free/dbip-city-lite-${month.toISOString().slice(0, 7)}.mmdb.gz`
    at.server.files.set(url, { bytes: gzipSync(march), lastModified: APRIL_TIME })
  }
}

const WITHOUT_ACCOUNT = { MERIDIAN_MAXMIND_ACCOUNT_ID: '', MERIDIAN_MAXMIND_LICENSE_KEY: '' }
let settings: Readonly<Record<string, string>>

function environment(): Record<string, string> {
  const [account = ''] = Buffer.from(AUTHORIZATION.slice(6), 'base64').toString().split(':')
  return {
    MERIDIAN_DATA_DIR: at.folder,
    MERIDIAN_MAXMIND_ACCOUNT_ID: account,
    MERIDIAN_MAXMIND_LICENSE_KEY: LICENSE_KEY,
    MERIDIAN_MAXMIND_URL: at.server.origin,
    MERIDIAN_DBIP_URL: at.server.origin,
    MERIDIAN_LISTS: 'none',
    ...settings,
  }
}

function open(): Downloads {
  const config = readConfig(environment())
  const opened = openDownloads({ config, log, now: () => now }, download, opening)
  assert.ok(opened)
  return opened
}

/** Starts the download process as server.ts does, but with its own environment. */
async function download(): Promise<void> {
  const settings = Object.entries(environment()).map(([name, value]) => `${name}=${value}`)
  const node = [process.execPath, ...LOADER, 'scripts/geo.ts', '--update']
  await runLowPriority(['env', ...settings, ...node], new AbortController().signal)
}

const messages = () => log.events.map(({ level, message }) => `${level}: ${message}`)

describe('a server with a MaxMind account', () => {
  it('downloads new files once a day, and nothing else', async () => {
    await downloads.downloadIfDue()
    assert.deepEqual(at.server.requests, [], 'a server that has just started downloads nothing')
    now += LATER
    await downloads.downloadIfDue()
    assert.deepEqual(messages(), ['info: checked for newer databases'])
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
    assert.ok(downloads.last().succeededAt > 0)

    at.serveAll(april, APRIL_TIME)
    at.server.requests.length = 0
    now += 23 * HOUR
    await downloads.downloadIfDue()
    // A newly started server does not download either.
    await open().downloadIfDue()
    assert.deepEqual(at.server.requests, [])
    now += HOUR
    await downloads.downloadIfDue()
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(april))
  })

  it('logs a failed download, keeps its databases, and tries again later', async () => {
    at.server.intercept = ({ url }, response) => {
      if (url.startsWith(CITY)) response.writeHead(429).end()
      return url.startsWith(CITY)
    }
    now += LATER
    await downloads.downloadIfDue()
    const [event, ...more] = log.events
    assert.deepEqual(more, [])
    assert.deepEqual(messages(), ['error: cannot download databases; the old ones stay in use'])
    const logged = JSON.stringify(event, (_, value) =>
      value instanceof Error ? value.message : value,
    )
    assert.match(logged, /GeoLite2 City: .* 429: the account has reached its daily download limit/)
    assert.equal(logged.includes(LICENSE_KEY), false)
    assert.deepEqual(downloads.last(), { failedAt: now, succeededAt: 0 })
    assert.deepEqual(
      at.installed('downloadedMaxmindAsn'),
      Buffer.from(march),
      'the other download succeeded',
    )

    at.server.requests.length = 0
    now += 14 * MINUTE
    await downloads.downloadIfDue()
    assert.deepEqual(at.server.requests, [])
    at.server.intercept = () => false
    now += LATER
    await downloads.downloadIfDue()
    assert.deepEqual(messages().slice(1), ['info: checked for newer databases'])
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
  })
})

describe('a server without an account', () => {
  it("downloads DB-IP's file, which needs none", async () => {
    settings = WITHOUT_ACCOUNT
    downloads = open()
    now += LATER
    await downloads.downloadIfDue()
    assert.deepEqual(messages(), ['info: checked for newer databases'])
    assert.deepEqual(at.installed('downloadedDbipCity'), Buffer.from(march))
    assert.equal(
      at.server.requests.some(({ url }) => url.startsWith('/geoip')),
      false,
    )
  })

  it('tries again after a failure, and not at once', async () => {
    settings = WITHOUT_ACCOUNT
    at.server.files.clear()
    now += LATER
    await downloads.downloadIfDue()
    assert.deepEqual(messages(), ['error: cannot download databases; the old ones stay in use'])
    serveDbip()
    now += 14 * MINUTE
    await downloads.downloadIfDue()
    assert.deepEqual(messages().slice(1), [])
    now += LATER
    await downloads.downloadIfDue()
    assert.deepEqual(messages().slice(1), ['info: checked for newer databases'])
  })
})

describe('a server', () => {
  const opened = (more: Record<string, string>) => {
    const config = readConfig({ ...environment(), ...more })
    return openDownloads({ config, log, now: () => now }, download, opening)
  }

  it("downloads nothing if the operator's files are set", () => {
    assert.equal(opened({ MERIDIAN_GEO: 'mine.mmdb' }), null)
  })

  it('with MERIDIAN_GEO_DOWNLOAD=0 downloads only when an operator starts it', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const quiet = opened({ MERIDIAN_GEO_DOWNLOAD: '0' })
    now += 2 * LATER
    t.mock.timers.tick(MINUTE)
    t.mock.timers.reset()
    assert.equal(quiet?.job.state().startedAt, null)
    quiet?.job.start()
    await quiet?.job.settled()
    assert.deepEqual(at.installed('downloadedDbipCity'), Buffer.from(march))
  })
})
