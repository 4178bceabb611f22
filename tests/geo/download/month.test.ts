import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { downloadSources } from '../../../lib/geo/download/sources.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { DBIP, DBIP_BEFORE, database, march, openProviders } from './providers.ts'

/*
 * DB-IP publishes one file a month, under the month's name and without an account:
 * https://db-ip.com/db/download/ip-to-city-lite. It appears in the first days of the month, such as
 * https://github.com/TorMap/ip-lookup-data/releases/tag/2026-11 on the fourth.
 */

const at = freshly(openProviders)
const november = database(Date.UTC(2026, 10, 1, 3))
const NOVEMBER_TIME = 'Tue, 03 Nov 2026 10:00:00 GMT'
const DBIP_NEXT = '/free/dbip-city-lite-2026-12.mmdb.gz'
const isDbip = ({ url }: { readonly url: string }) => url.startsWith('/free/')

describe("DB-IP's file of the month", () => {
  it("is last month's until this month's exists", async () => {
    at.server.files.set(DBIP_BEFORE, { bytes: gzipSync(march) })
    assert.equal(await at.outcome('DB-IP City Lite'), 'installed')
    assert.equal(at.requestsFor(DBIP).length, 1)
  })

  it('has the month in UTC in its name', () => {
    const providers = { maxmindUrl: '', maxmindAccountId: '', dbipUrl: 'https://db' }
    const months = (now: number) => {
      const sources = downloadSources({ ...providers, maxmindLicenseKey: undefined }, now)
      return sources[0]?.offers.map(({ url }) => /\d{4}-\d{2}/.exec(url)?.[0])
    }
    assert.deepEqual(months(Date.UTC(2027, 0, 1)), ['2027-01', '2026-12'])
    assert.deepEqual(months(Date.UTC(2026, 2, 31, 23, 59, 59)), ['2026-03', '2026-02'])
  })

  it('is not asked for again once it is here', async () => {
    // The file of November, which the build of its database shows.
    at.server.files.set(DBIP, { bytes: gzipSync(november), lastModified: NOVEMBER_TIME })
    assert.equal(await at.outcome('DB-IP City Lite'), 'installed')
    at.server.requests.length = 0
    assert.equal(await at.outcome('DB-IP City Lite'), 'up-to-date')
    assert.deepEqual(at.server.requests.filter(isDbip), [])
  })

  it("is not last month's again while this month's does not exist yet", async () => {
    at.server.files.set(DBIP, { bytes: gzipSync(november), lastModified: NOVEMBER_TIME })
    await at.outcome('DB-IP City Lite')
    at.server.requests.length = 0
    const december = { now: Date.UTC(2026, 11, 2) }
    assert.equal(await at.outcome('DB-IP City Lite', december), 'up-to-date')
    const asked = at.server.requests.filter(isDbip).map(({ method, url }) => `${method} ${url}`)
    assert.deepEqual(asked, [`HEAD ${DBIP_NEXT}`, `GET ${DBIP_NEXT}`])
  })

  it('is asked for until it is here', async () => {
    at.server.files.set(DBIP, { bytes: gzipSync(november), lastModified: NOVEMBER_TIME })
    await at.outcome('DB-IP City Lite', { now: Date.UTC(2026, 11, 1) })
    const bytes = gzipSync(database(Date.UTC(2026, 11, 1, 3)))
    at.server.files.set(DBIP_NEXT, { bytes, lastModified: 'Thu, 03 Dec 2026 10:00:00 GMT' })
    const later = { now: Date.UTC(2026, 11, 4) }
    assert.equal(await at.outcome('DB-IP City Lite', later), 'installed')
  })

  it('is reported as missing if neither month has one', async () => {
    const reason =
      /2026-10\.mmdb\.gz: the server answered 404: there is no file for this month or last month$/
    assert.match(await at.outcome('DB-IP City Lite'), reason)
  })

  it("resumes last month's if this month's is still missing", async () => {
    const bytes = gzipSync(march)
    at.server.files.set(DBIP_BEFORE, { bytes, etag: '"dbip"' })
    at.server.silentAfter = 40_000
    const onProgress = (_: string, share: number) => {
      if (share * bytes.length >= 40_000) at.server.cut()
    }
    await at.outcome('DB-IP City Lite', { onProgress })
    at.server.silentAfter = Number.POSITIVE_INFINITY
    assert.equal(await at.outcome('DB-IP City Lite'), 'installed')
    assert.equal(at.requestsFor(DBIP_BEFORE).at(-1)?.headers.range, 'bytes=40000-')
  })
})
