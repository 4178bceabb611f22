import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { updatePlan } from '../../../lib/accounts/users.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/parts/durations.ts'
import { stopByProgram, stopLinkIn } from '../../contact/one-click.ts'
import { readColumn, readRows, readValue, write } from '../../support/database/sql.ts'
import { NOON } from '../../support/helpers.ts'
import { type MailAnswer, type MailServer, startMailServer } from '../../support/mail-server.ts'
import { visitPage } from '../../support/scene/pages.ts'
import { freshScene } from '../../support/scene/scene.ts'

const SHOP = 'https://shop.example'
const FORM = `/app/vitals/mails?site=${encodeURIComponent(SHOP)}`
const MIDNIGHT = NOON - 12 * HOUR_MS
const ENOUGH = 300

/** Mails that are refused wait, so that a test can count them. */
const server = { answer: 'refuse' as MailAnswer }
let mail: MailServer

const app = freshScene(
  () => ({ env: { MERIDIAN_SMTP_URL: mail.url } }),
  async () => {
    server.answer = 'take'
    await ada.signUpByMail(mail)
    await updatePlan(app.services.db, (await ada.row()).id, 'pro').run()
    await ada.submit('/app/sites', { name: SHOP })
    server.answer = 'refuse'
  },
)
const ada = app.user('ada')

before(async () => {
  mail = await startMailServer({ answer: () => server.answer })
})
after(() => mail[Symbol.asyncDispose]())

const set = (state: 'on' | 'off') => ada.submit(FORM, { mails: state })

const POOR = { lcp: 4_300, cls: 0 }
const GOOD = { lcp: 1_000, cls: 0 }

/** Moves the clock to noon of a day, counted from the first, and sends views. */
async function view(
  day: number,
  metrics: object,
  { views = ENOUGH, device = 'mobile', path = '/' } = {},
) {
  app.setClock(NOON + day * DAY_MS)
  const headers = { origin: SHOP, 'user-agent': 'Mozilla/5.0' }
  const body = { path, deviceType: device, metrics }
  for (let sent = 0; sent < views; sent += 50) {
    const some = Array.from({ length: Math.min(50, views - sent) }, () =>
      app.send('POST', '/v1/telemetry/rum', { headers, body }),
    )
    for (const { status } of await Promise.all(some)) assert.equal(status, 204)
  }
}

/** Does the work of the hour in which the day is judged. */
async function judge(day: number): Promise<void> {
  app.setClock(MIDNIGHT + (day + 1) * DAY_MS + HOUR_MS)
  await app.services.vitalsAlerts.work()
}

const Detail = v.object({ day: v.string(), findings: v.array(v.record(v.string(), v.unknown())) })

/** The days of the mails so far, with what they found. */
async function mailed(): Promise<string[]> {
  const sql = "SELECT detail FROM account_mails WHERE kind = 'vitals_poor' ORDER BY id"
  return (await readColumn(app, sql)).map((detail) => {
    const { day, findings } = v.parse(Detail, JSON.parse(String(detail)))
    return [day, ...findings.map(({ device, vital }) => `${device}-${vital}`)].join(' ')
  })
}

describe('a mail when a metric turns poor', () => {
  it('is off until asked for', async () => {
    assert.match((await ada.visit('/app/vitals')).html, /id="mails">Mails<\/h2> <span[^>]*>Off</)
    await view(0, POOR)
    await judge(0)
    assert.deepEqual(await mailed(), [])
  })

  it('says what, on which device and page, and how to turn it off', async () => {
    await set('on')
    await view(0, POOR, { views: 310, path: '/cart' })
    await view(0, { lcp: 6_100, cls: 0 }, { path: '/a path/ü' })
    server.answer = 'take'
    await judge(0)
    const { to, headers, text } = await mail.next()
    assert.deepEqual(to, [ada.email])
    assert.ok(headers.includes('Subject: LCP turned poor: shop.example'))
    assert.ok(headers.includes('Auto-Submitted: auto-generated'))
    assert.match(text, /https:\/\/shop\.example on 2026-01-15 \(UTC\)/)
    const sentence =
      /- On phones, the main picture or text appears after [\d.]+ s \(LCP; above 4\.0 s is poor\)\./
    assert.match(text, sentence)
    assert.match(text, /Slowest page: \/a%20path\/%C3%BC, 6\.1 s\./)
    assert.match(text, /\/app\/vitals\?site=https%3A%2F%2Fshop\.example/)
    assert.match(text, /turn them off at the end of that page/)
  })

  it('is stopped by a button of the mail program, and by nobody who guesses', async () => {
    await set('on')
    await app.restart({ MERIDIAN_SMTP_URL: mail.url, MERIDIAN_BASE_URL: 'https://geo.example' })
    await view(0, POOR)
    server.answer = 'take'
    await judge(0)
    const link = stopLinkIn(await mail.next()) ?? assert.fail()
    const [siteId] = await readColumn(app, 'SELECT site_id FROM vitals_alerts')
    const on = () => readColumn(app, 'SELECT site_id FROM vitals_alerts')
    const [proof = ''] = link.split('.').slice(-1)
    for (const wrong of [`${siteId}`, `vitals.${siteId}.`, `vitals.${siteId}.${proof.slice(1)}A`]) {
      const guess = new URL(link)
      guess.searchParams.set('id', wrong)
      assert.equal(await stopByProgram(app, String(guess)), 200)
      assert.deepEqual(await on(), [siteId], wrong)
    }
    const { pathname, search } = new URL(link)
    const opened = await visitPage(app, `${pathname}${search}`)
    assert.match(opened.html, /The owner of https:\/\/shop\.example gets a mail/)
    assert.match(opened.html, /Get no more of them/)
    assert.deepEqual(await on(), [siteId], 'opened by a scanner')
    for (let copy = 0; copy < 2; copy++) assert.equal(await stopByProgram(app, link), 200)
    assert.deepEqual(await on(), [])
    const logged = await readRows(
      app,
      "SELECT actor_label, detail FROM audit_log WHERE action = 'set_vitals_alert' ORDER BY id DESC",
    )
    assert.deepEqual(logged, [
      ['link in a mail', 'https://shop.example: off'],
      [ada.email, 'https://shop.example: on'],
    ])
    await app.restart({ MERIDIAN_SMTP_URL: mail.url, MERIDIAN_BASE_URL: '' })
    await set('on')
    assert.equal(await stopByProgram(app, link), 200)
    assert.deepEqual(await on(), [siteId], 'turned on again, by a link of before')
  })

  for (const path of [
    '/https://evil.example/login',
    '//evil.example/x',
    '/www.evil.example',
    '/a@evil.example',
  ]) {
    it(`has no link of a stranger's making: ${path}`, async () => {
      await set('on')
      await view(0, POOR, { views: 310, path })
      server.answer = 'take'
      await judge(0)
      const { text } = await mail.next()
      assert.match(text, /Slowest page: \/[\w%/-]+, /)
      assert.doesNotMatch(text, /evil\.example|:\/\/evil|@evil/)
    })
  }

  it('comes an hour after the end of the day, once, whatever runs again', async () => {
    await set('on')
    await view(0, POOR)
    app.setClock(MIDNIGHT + DAY_MS + HOUR_MS - 1)
    await app.services.vitalsAlerts.work()
    assert.deepEqual(await mailed(), [])
    await Promise.all([judge(0), judge(0), judge(0)])
    await app.restart()
    await judge(0)
    assert.deepEqual(await mailed(), ['2026-01-15 mobile-lcp'])
    assert.equal(Number(await readValue(app, 'SELECT count(*) FROM account_mails')), 1)
  })

  it('comes again only after a day that was not poor, which quiet days are not', async () => {
    await set('on')
    const days = [POOR, POOR, null, POOR, GOOD, null, POOR]
    for (const [day, metrics] of days.entries()) {
      if (metrics !== null) await view(day, metrics)
      await judge(day)
    }
    assert.deepEqual(await mailed(), ['2026-01-15 mobile-lcp', '2026-01-21 mobile-lcp'])
  })

  it('needs 300 views on a kind of device', async () => {
    await set('on')
    await view(0, POOR, { views: ENOUGH - 1 })
    await view(0, POOR, { views: ENOUGH - 1, device: 'desktop' })
    await view(0, POOR, { device: 'tablet' })
    await judge(0)
    assert.deepEqual(await mailed(), [])
    await view(1, POOR, { views: ENOUGH, device: 'desktop' })
    await judge(1)
    assert.deepEqual(await mailed(), ['2026-01-16 desktop-lcp'])
  })

  it('is one for all metrics and devices of a day, and judges each by itself', async () => {
    await set('on')
    await view(0, { ...POOR, inp: 501, cls: 0.26 })
    await view(0, { lcp: 4_000, inp: 500, cls: 0.25 }, { device: 'desktop' })
    await judge(0)
    await view(1, POOR, { device: 'desktop' })
    await view(1, { ...POOR, inp: 501, cls: 0.26 })
    await judge(1)
    const all = 'mobile-lcp mobile-inp mobile-cls'
    assert.deepEqual(await mailed(), [`2026-01-15 ${all}`, '2026-01-16 desktop-lcp'])
  })

  it('judges only the last day after days without a server', async () => {
    await set('on')
    await view(0, POOR)
    await view(1, GOOD)
    await view(2, POOR)
    await judge(2)
    assert.deepEqual(await mailed(), ['2026-01-17 mobile-lcp'])
  })

  it('comes to no account that is disabled or not verified, nor to one that is closed', async () => {
    await set('on')
    await view(0, POOR)
    await write(app, 'UPDATE users SET disabled_at = 1')
    await judge(0)
    await write(app, 'UPDATE users SET disabled_at = NULL, email_verified = 0')
    await judge(0)
    assert.deepEqual(await mailed(), [])
    await write(app, 'UPDATE users SET email_verified = 1')
    await judge(0)
    assert.equal((await mailed()).length, 1)
    const { id } = await ada.row()
    await write(app, 'DELETE FROM users WHERE id = ?', id)
    assert.deepEqual(await readRows(app, 'SELECT * FROM vitals_alerts'), [])
  })

  it('goes with the site, and waits no longer once it is turned off', async () => {
    await set('on')
    await view(0, POOR)
    await judge(0)
    assert.equal((await mailed()).length, 1)
    await set('off')
    assert.deepEqual(await mailed(), [])
    await set('on')
    await write(app, 'DELETE FROM sites')
    assert.deepEqual(await readRows(app, 'SELECT * FROM vitals_alerts'), [])
  })
})

describe('turning the mails on and off', () => {
  it('is logged if it changes something', async () => {
    for (const state of ['on', 'on', 'off', 'off'] as const) {
      assert.match((await set(state)).location ?? '', new RegExp(`done=mails-${state}`))
      const { html } = await ada.visit('/app/vitals')
      assert.match(html, new RegExp(`name="mails" value="${state === 'on' ? 'off' : 'on'}"`))
    }
    const sql = "SELECT detail FROM audit_log WHERE action = 'set_vitals_alert' ORDER BY id"
    assert.deepEqual(await readColumn(app, sql), [`${SHOP}: on`, `${SHOP}: off`])
  })

  it('is for the owner alone, and takes nothing but on and off', async () => {
    await set('on')
    assert.equal((await ada.submit(FORM, { mails: 'maybe' })).status, 400)
    const others = `/app/vitals/mails?site=${encodeURIComponent('https://eve.example')}`
    assert.equal((await ada.submit(others, { mails: 'on' })).status, 404)
    assert.equal((await readRows(app, 'SELECT * FROM vitals_alerts')).length, 1)
  })

  it('is impossible where the server sends no mail', async () => {
    await app.restart({ MERIDIAN_SMTP_URL: '' })
    const { html } = await ada.visit('/app/vitals')
    assert.match(html, /This server sends no mail/)
    assert.doesNotMatch(html, /name="mails"/)
  })
})

describe('the work of an hour', () => {
  it('removes links that have expired', async () => {
    const link = FORM.replace('mails', 'links')
    await ada.submit(link, { days: '7' })
    await ada.submit(link, { days: '30' })
    app.pass(7 * DAY_MS)
    await app.services.vitalsAlerts.work()
    assert.equal(Number(await readValue(app, 'SELECT count(*) FROM site_links')), 1)
  })
})
