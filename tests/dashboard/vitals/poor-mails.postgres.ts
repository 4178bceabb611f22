import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DAY_MS } from '../../../lib/parts/durations.ts'
import { startPostgres } from '../../support/database/postgres-server.ts'
import { readColumn } from '../../support/database/sql.ts'
import { makeApp, NOON } from '../../support/helpers.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { closedAfterTest, shared } from '../../support/scene/freshly.ts'

const server = shared(startPostgres)
const closed = closedAfterTest()

const SHOP = 'https://shop.example'
const ROUNDS = 3

it('two servers that judge the same day mail once', async () => {
  const mail = closed(await startMailServer())
  let now = NOON
  const env = {
    MERIDIAN_DATABASE_URL: await server.createDatabase(),
    MERIDIAN_SECRET: 'ab'.repeat(32),
    MERIDIAN_SMTP_URL: mail.url,
  }
  const open = async () => closed(await makeApp({ env, now: () => now }))
  const [first, second] = [await open(), await open()]
  const ada = first.user('ada')
  await ada.signUpByMail(mail)
  await ada.submit('/app/sites', { name: SHOP })
  await ada.submit(`/app/vitals/mails?site=${encodeURIComponent(SHOP)}`, { mails: 'on' })
  for (let day = 0; day < ROUNDS; day++) {
    now = NOON + day * DAY_MS
    // Poor on every other day: each turn is mailed.
    const metrics = { lcp: day % 2 === 0 ? 5_000 : 1_000 }
    const headers = { origin: SHOP, 'user-agent': 'Mozilla/5.0' }
    const body = { path: '/', deviceType: 'mobile', metrics }
    const sent = Array.from({ length: 300 }, () =>
      first.send('POST', '/v1/telemetry/rum', { headers, body }),
    )
    for (const { status } of await Promise.all(sent)) assert.equal(status, 204)
    await first.services.rum.readOverview(await wholeDay(now))
    now += DAY_MS
    // Without the lease that usually lets one server do it.
    await Promise.all([first, second].map(({ services }) => services.vitalsAlerts.work()))
  }
  const subjects = []
  for (let n = 0; n < Math.ceil(ROUNDS / 2); n++) subjects.push((await mail.next()).headers)
  assert.ok(subjects.flat().includes('Subject: LCP turned poor: shop.example'))
  while ((await readColumn(first, 'SELECT id FROM account_mails')).length > 0) await nextTurn()
  assert.equal(mail.left(), 0)

  async function wholeDay(at: number) {
    const [siteId] = await readColumn(first, 'SELECT id FROM sites')
    const from = Math.floor(at / DAY_MS) * 24
    return { siteId: String(siteId), period: { from, to: from + 23 } }
  }
})
