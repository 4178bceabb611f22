import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import { csvParse } from 'd3-dsv'
import { dayOf } from '../../lib/config/period.ts'
import { openCsvFile } from '../../lib/services/operate/csv-file.ts'
import { openShop } from '../billing/shop.ts'
import { write } from '../support/database/sql.ts'
import { NOON } from '../support/helpers.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { closedAfterTest } from '../support/scene/freshly.ts'
import { freshScene } from '../support/scene/scene.ts'
import { actionsOf, OPERATOR } from './operator.ts'

const app = freshScene()
const olga = app.operator('olga')
const closed = closedAfterTest()

const ROOT = '/app/operate'

/** The file that the operator gets: its text and its rows. */
async function download(path: string, by = olga) {
  const { status, html, headers } = await by.visit(`${ROOT}/${path}`)
  assert.equal(status, 200, html)
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  return { text: html, name: headers.get('content-disposition'), rows: [...csvParse(html)] }
}

const ADD_USER = `INSERT INTO users (id, email, email_verified, plan, created_at) VALUES (?, ?, 1, ?, 0)`

describe('the people as CSV', () => {
  it('are all whom the filter of the page finds, once, over several reads', async () => {
    await olga.enter()
    await write(
      app,
      `WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 2300)
      INSERT INTO users (id, email, email_verified, plan, created_at)
      SELECT 'id-' || n, 'user' || (10000 + n) || '@example.com', 1, 'pro', ${NOON} FROM n`,
    )
    await app.services.openDemo()
    const { rows, name } = await download('people.csv')
    assert.equal(name, 'attachment; filename="people.csv"')
    assert.equal(new Set(rows.map(({ email }) => email)).size, 2_301)
    assert.equal(rows.length, 2_301)
    const [first] = (await download('people.csv?plan=pro&search=user12300')).rows
    assert.deepEqual(first, {
      id: 'id-2300',
      email: 'user12300@example.com',
      name: '',
      plan: 'pro',
      assignedPlan: 'pro',
      subscription: '',
      role: 'user',
      emailVerified: 'true',
      createdAt: '2026-01-15T12:00:00.000Z',
      disabledAt: '',
    })
    const page = await olga.visit(`${ROOT}/people?plan=pro`)
    assert.match(page.html, /href="\/app\/operate\/people\.csv\?plan=pro&amp;status=all"/)
    const refused = await olga.visit(`${ROOT}/people.csv?plan=gold`)
    assert.equal(refused.status, 400)
    assert.deepEqual(
      (await actionsOf(app)).map(({ action, detail }) => [action, detail]),
      [
        ['export_list', 'people'],
        ['export_list', 'people'],
      ],
    )
  })

  it('are not logged as taken if only the headers are asked for', async () => {
    const cookie = await olga.enter()
    for (const path of ['people.csv', 'audit.csv', 'usage.csv?month=2026-01']) {
      const url = `http://localhost${ROOT}/${path}`
      const request = new Request(url, { method: 'HEAD', headers: { cookie } })
      const { status, headers } = await app.app.fetch(request, { remoteAddress: '192.0.2.1' })
      assert.equal(status, 200, path)
      assert.match(headers.get('content-disposition') ?? '', /^attachment/)
    }
    assert.deepEqual(await actionsOf(app), [])
  })

  it('run no formula in a spreadsheet', async () => {
    await write(app, ADD_USER, 'id', 'ada@example.com', 'free')
    await write(app, `UPDATE users SET name = '=HYPERLINK("x","y, z")'`)
    const { text } = await download('people.csv')
    assert.match(text, /"'=HYPERLINK\(""x"",""y, z""\)"/)
    assert.match(text, /^id,email,.*\r\n/)
  })
})

describe('the audit log as CSV', () => {
  it('has the rows of the filter, newest first, with the time', async () => {
    await olga.enter()
    for (const n of [1, 2, 3]) {
      const sql = `INSERT INTO audit_log (app, actor_id, action, detail, created_at)
        VALUES ('api', 'gone', 'delete_site', ?, ?)`
      await write(app, sql, n === 3 ? '+danger' : `site ${n}`, NOON + n * 1_000)
    }
    const { rows } = await download('audit.csv?action=delete_site')
    assert.deepEqual(
      rows.map(({ at, detail, userId }) => [at, detail, userId]),
      [
        ['2026-01-15T12:00:03.000Z', "'+danger", 'gone'],
        ['2026-01-15T12:00:02.000Z', 'site 2', 'gone'],
        ['2026-01-15T12:00:01.000Z', 'site 1', 'gone'],
      ],
    )
    const own = await download(`audit.csv?user=${OPERATOR}&action=export_list`)
    assert.equal(own.rows[0]?.['detail'], 'audit')
  })
})

describe('usage as CSV', () => {
  it('has the requests of each user in a month', async () => {
    await write(app, ADD_USER, 'a', 'ada@example.com', 'pro')
    const day = dayOf(NOON)
    const add = `INSERT INTO usage_by_operation (day, user_id, key_id, operation, status, requests)
      VALUES (?, 'a', 'key', 'locateAddress', ?, ?)`
    await write(app, add, day, 200, 40)
    await write(app, add, day, 429, 2)
    const { rows, name } = await download('usage.csv?month=2026-01')
    assert.equal(name, 'attachment; filename="usage-2026-01.csv"')
    const user = { userId: 'a', email: 'ada@example.com', plan: 'pro' }
    const counts = { requests: '42', errors: '2', limited: '2' }
    assert.deepEqual(rows, [{ month: '2026-01', ...user, ...counts }])
    assert.equal((await olga.visit(`${ROOT}/usage.csv?month=1999-01`)).status, 400)
  })
})

describe('the invoices of all as CSV', () => {
  it('has those of a month, in whole units of the currency', async () => {
    const shop = closed(await openShop())
    const operator = shop.app.operator('olga')
    await shop.buy('pro')
    const { rows, name } = await download('invoices.csv?month=2026-01', operator)
    assert.equal(name, 'attachment; filename="invoices-2026-01.csv"')
    assert.equal(rows.length, 1)
    const { number = '', status, currency, net, tax, total, paid, createdAt } = rows[0] ?? {}
    assert.notEqual(number, '')
    assert.deepEqual(
      { status, currency, net, tax, total, paid },
      {
        status: 'paid',
        currency: 'USD',
        net: '29.00',
        tax: '0.00',
        total: '29.00',
        paid: '29.00',
      },
    )
    assert.equal(createdAt, '2026-01-15T12:00:00.000Z')
    assert.deepEqual((await download('invoices.csv?month=2025-12', operator)).rows, [])
    const page = await operator.visit(`${ROOT}/billing`)
    assert.match(page.html, /action="\/app\/operate\/invoices\.csv"/)
  })

  it('is an error, and not logged as taken, if Stripe does not answer', async () => {
    const shop = closed(await openShop())
    const operator = shop.app.operator('olga')
    await operator.enter()
    shop.double.failCalls({ kind: '500' }, 10)
    const { status, headers } = await operator.visit(`${ROOT}/invoices.csv?month=2026-01`)
    assert.equal(status, 503)
    assert.equal(headers.get('content-disposition'), null)
    assert.deepEqual(await actionsOf(shop.app), [])
  })

  it('does not exist where nothing is sold', async () => {
    assert.equal((await olga.visit(`${ROOT}/invoices.csv`)).status, 503)
  })
})

describe('a CSV file', () => {
  it('asks for rows only once those before are read, and stops with its reader', async () => {
    const asked: number[] = []
    let isEnded = false
    async function* pages() {
      try {
        for (let n = 1; n < 1_000; n++) {
          asked.push(n)
          yield [{ n }]
        }
      } finally {
        isEnded = true
      }
    }
    const reader = (await openCsvFile(['n'], pages(), assert.ifError)).getReader()
    await reader.read()
    await reader.read()
    assert.ok(asked.length <= 3, asked.join())
    await reader.cancel()
    assert.ok(isEnded)
  })

  it('breaks off, and is reported, if rows cannot be read', async () => {
    async function* pages() {
      yield [{ n: 1 }]
      throw new Error('the disk fails')
    }
    const errors: unknown[] = []
    const file = await openCsvFile(['n'], pages(), (error) => errors.push(error))
    await assert.rejects(new Response(file).text(), /the disk fails/)
    assert.equal(errors.length, 1)
  })

  it('is no file if the first rows cannot be read', async () => {
    // biome-ignore lint/correctness/useYield: it fails first
    async function* pages(): AsyncGenerator<never[]> {
      throw new Error('the disk fails')
    }
    await assert.rejects(openCsvFile(['n'], pages(), assert.ifError), /the disk fails/)
  })

  it('that breaks off is no whole answer to its client', async () => {
    const { promise: isRead, resolve: goOn } = Promise.withResolvers<void>()
    async function* pages() {
      yield [{ n: 1 }]
      await isRead
      throw new Error('the disk fails')
    }
    const answer = async () => new Response(await openCsvFile(['n'], pages(), () => {}))
    await using server = await startLoopbackServer(getRequestListener(answer))
    const response = await fetch(server.origin)
    assert.equal(response.status, 200)
    const reader = response.body?.getReader() ?? assert.fail()
    await reader.read()
    goOn()
    await assert.rejects(reader.read())
  })

  it('begins with the mark by which Excel knows UTF-8', async () => {
    async function* pages() {
      yield [{ name: 'Zoë' }]
    }
    const file = await openCsvFile(['name'], pages(), assert.ifError)
    const bytes = Buffer.from(await new Response(file).arrayBuffer())
    assert.equal(bytes.toString('utf8'), '\ufeffname\r\nZoë\r\n')
  })
})
