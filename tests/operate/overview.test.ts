import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readRevenue } from '../../lib/billing/subscription/recurring-revenue.ts'
import { dayOf } from '../../lib/config/period.ts'
import { runCheck } from '../../lib/doctor/finding.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import { checkFiles, readOverview } from '../../lib/services/operate/overview.ts'
import { quickChecks } from '../../lib/services/operate/quick-checks.ts'
import { openShop } from '../billing/shop.ts'
import { accept } from '../contact/inquiry.ts'
import { write } from '../support/database/sql.ts'
import { type AppOptions, makeApp, NOON } from '../support/helpers.ts'
import { closedAfterTest } from '../support/scene/freshly.ts'
import { tempFolder } from '../support/temp-folder.ts'

const closed = closedAfterTest()

const PAGE = '/app/operate'

/** A service, and the first page of its operator. */
async function open(options: AppOptions = {}) {
  const app = closed(await makeApp(options))
  const olga = app.operator('olga')
  await olga.enter()
  return { app, olga, show: async () => (await olga.visit(PAGE)).html }
}

/** The links that are marked as the current page. */
function currentIn(html: string): string[] {
  const links = html.matchAll(/<a [^>]*aria-current="page">(.*?)<\/a>/g)
  return [...links].map(([, content = '']) => content.replaceAll(/<[^>]*>/g, ''))
}

describe('the first page of operators', () => {
  it('is where the menu begins, and marks no other page', async () => {
    const { olga } = await open()
    const { status, html } = await olga.visit(PAGE)
    assert.equal(status, 200)
    assert.deepEqual(currentIn(html), ['Overview'])
    const people = (await olga.visit(`${PAGE}/people`)).html
    assert.deepEqual(currentIn(people), ['People'])
  })

  it('names what is wrong first, with its next step', async () => {
    const backups = join(tempFolder(), 'backups')
    mkdirSync(backups)
    const old = new Date(NOON - 3 * DAY_MS).toISOString().slice(0, 10)
    writeFileSync(join(backups, `meridian-${old}T120000Z.tar.gz`), '')
    const { app, show } = await open({
      env: { MERIDIAN_BACKUP_DIR: backups, MERIDIAN_CONTACT: 'store' },
    })
    await accept(app)
    await write(app, "UPDATE inquiries SET state = 'dead'")
    const day = dayOf(NOON)
    const add = 'INSERT INTO usage_of_all (day, operation, status, requests) VALUES (?, ?, ?, ?)'
    await write(app, add, day, 'locateAddress', 503, 7)
    await write(app, add, day - 1, 'locateAddress', 200, 12_000)
    await write(app, add, day - 2, 'locateAddress', 500, 99)
    const html = await show()
    assert.match(html, /\d+ things need your attention/)
    assert.match(
      html,
      /#backups-title">Back up now<.*<\/code> is 72 hours old<\/p><p class="soft">Run /,
    )
    assert.match(html, /MERIDIAN_SMTP_URL<\/code> is not set: [^/]*<\/p><p class="soft">Set it, or/)
    assert.match(html, /\/inquiries\?state=dead">Failed inquiries<.*1 inquiry reached nobody/)
    assert.match(html, /7 answers since yesterday, 00:00 UTC, had status 5xx/)
    assert.match(html, /What is fine.*Look-ups and writes work/)
    assert.match(html, /<p class="figure">7<\/p><p class="soft">12,000 yesterday/)
    assert.doesNotMatch(html, /Subscriptions, a month/)
  })

  it('shows the figures first, then each check once, without a badge on each of many warnings', async () => {
    const findings = ['asn', 'city'].map((name) => ({
      check: 'Mail',
      state: 'warning',
      text: `The file ${name} is old`,
      advice: 'run: npm run geo -- --download, or set MERIDIAN_GEO=/srv/geo, or wait',
    }))
    const { app, olga, show } = await open({ runScript: async () => JSON.stringify(findings) })
    await olga.submit(`${PAGE}/system/doctor`)
    await app.services.operatorJobs.doctor.settled()
    const html = await show()
    assert.ok(html.indexOf('Requests today') < html.indexOf('your attention'))
    const [problems = ''] = /<ul class="findings">.*?<\/ul>/s.exec(html) ?? []
    assert.equal(problems.match(/<strong>Mail<\/strong>/g)?.length, 1)
    assert.match(
      problems,
      /<p>The file asn is old<\/p><p>The file city is old<\/p><p class="soft">Run: <code>npm run geo -- --download<\/code>, or set <code>MERIDIAN_GEO=\/srv\/geo<\/code>, or wait<\/p>/,
    )
    assert.doesNotMatch(problems, /badge/)
  })

  it('leads to the page that an advice names', async () => {
    const advice = 'enter it on the page /app/operate/databases, or set MERIDIAN_GEO'
    const findings = [{ check: 'Mail', state: 'warning', text: 'The file is old', advice }]
    const { app, olga, show } = await open({ runScript: async () => JSON.stringify(findings) })
    await olga.submit(`${PAGE}/system/doctor`)
    await app.services.operatorJobs.doctor.settled()
    assert.match(
      await show(),
      /Enter it on the page <a href="\/app\/operate\/databases">Databases<\/a>, or set <code>/,
    )
  })

  it('says that all is well, or how the health check fails', async () => {
    const { app, show } = await open()
    app.setReadOnly(true)
    const html = await show()
    app.setReadOnly(false)
    assert.match(
      html,
      /<strong>Health<\/strong><span class="badge error">Wrong<.*The health check database fails/,
    )
    assert.ok(html.indexOf('badge error') < html.indexOf('badge near'))
  })

  it('warns, as the start does, of too few open files', async () => {
    const { text } = checkFiles({ limit: 256, needed: 10_200 })
    assert.equal(text, 'This process may open 256 files, but MERIDIAN_MAX_CONNECTIONS needs 10200')
    const { show } = await open({ env: { MERIDIAN_MAX_CONNECTIONS: '10' } })
    assert.match(await show(), /<strong>Open files<\/strong>.*Enough files may be open/)
  })

  it('repeats what the doctor found with its slower checks', async () => {
    const findings = [
      { check: 'Mail', state: 'wrong', text: 'mail.example accepts no mail', advice: 'check it' },
      { check: 'Backups', state: 'warning', text: 'of the last run', advice: 'none' },
      { check: 'Clock', state: 'ok', text: 'The clock says noon' },
    ]
    const { app, olga, show } = await open({ runScript: async () => JSON.stringify(findings) })
    assert.match(await show(), /It last ran:.*Never/)
    await olga.submit(`${PAGE}/system/doctor`)
    await app.services.operatorJobs.doctor.settled()
    const html = await show()
    assert.match(html, /<strong>Mail<\/strong>.*mail\.example accepts no mail/)
    assert.match(html, /It last ran: *<time/)
    assert.doesNotMatch(html, /of the last run|The clock says/)
  })

  it('finds with the functions of the doctor', async () => {
    const { app } = await open()
    const { config, geo, maxmind, now } = app.services
    const readGeoFiles = async () =>
      geo.files().map(({ file, database: { provider, metadata } }) => {
        return { name: file.name, provider, builtAt: new Date(metadata.builtAt).toISOString() }
      })
    const shown = (await readOverview(app.services)).findings
    for (const check of quickChecks({ config, readGeoFiles, findAccount: maxmind.origin, now })) {
      // The free room changes meanwhile.
      if (check.name === 'Disk') continue
      const found = (await runCheck(check)).map((finding) => ({ check: check.name, ...finding }))
      assert.deepEqual(
        shown.filter(({ check: name }) => name === check.name),
        found,
      )
    }
  })

  it('counts who has joined, without the account of the landing page', async () => {
    const { app } = await open()
    await app.services.openDemo()
    const sql = `INSERT INTO users (id, email, email_verified, plan, created_at) VALUES (?, ?, 1, 'free', ?)`
    const ages = [HOUR_MS, 2 * DAY_MS, 8 * DAY_MS, 31 * DAY_MS]
    for (const age of ages) await write(app, sql, `id-${age}`, `${age}@example.com`, NOON - age)
    const { signUps } = await readOverview(app.services)
    assert.deepEqual(signUps, { day: 2, week: 3, month: 4 })
  })
})

describe('the revenue on the first page', () => {
  it('is what subscriptions pay for a month, by currency', async () => {
    const shop = closed(await openShop({ sellsYearly: true }))
    const { services } = shop.app
    await shop.buy('pro', { interval: 'year' })
    await services.catalogue.refresh()
    const revenue = await readRevenue(services.storage.longReads, services.catalogue.find)
    assert.deepEqual([revenue.paid, revenue.trials, revenue.unpriced], [1, 0, 0])
    assert.deepEqual([...revenue.monthly], [['usd', 29_000 / 12]])
    const { html } = await shop.app.operator('olga').visit(PAGE)
    assert.match(html, /\$24\.17<\/p><p class="soft">1 paid; before discounts and tax/)
    await write(shop.app, "UPDATE subscriptions SET status = 'past_due', price_id = 'unknown'")
    const unknown = await readRevenue(services.storage.longReads, services.catalogue.find)
    assert.deepEqual([unknown.paid, unknown.pastDue, unknown.unpriced], [1, 1, 1])
    assert.equal(unknown.monthly.size, 0)
    await write(shop.app, "UPDATE subscriptions SET status = 'trialing'")
    const trial = await readRevenue(services.storage.longReads, services.catalogue.find)
    assert.deepEqual([trial.paid, trial.trials], [0, 1])
  })
})
