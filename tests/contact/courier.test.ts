import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Courier, type Deliver, type Trouble } from '../../../lib/contact/courier.ts'
import { newInquiry } from '../../../lib/contact/inquiry.ts'
import { createDeliverMail } from '../../../lib/contact/inquiry-mail.ts'
import {
  findInquiries,
  insertInquiry,
  listInquiries,
  requeue,
} from '../../../lib/contact/inquiry-store.ts'
import { createDeliverWebhook } from '../../../lib/contact/inquiry-webhook.ts'
import { openDb } from '../../../lib/db/open.ts'
import { openMailConnection } from '../../../lib/mail.ts'
import { INQUIRY } from '../../inquiry.ts'
import { startMailServer } from '../../mail-server.ts'
import { tempFolder } from '../../temp-folder.ts'

const NOW = 1_000_000
const LEASE_MS = 30_000
const folder = tempFolder()

/** A database with `count` inquiries that wait, and couriers on connections of their own. */
function setUp(count: number) {
  const file = join(folder, `${crypto.randomUUID()}.db`)
  const db = openDb(file)
  const clock = { now: NOW }
  const errors: unknown[] = []
  const troubles: Trouble[] = []
  for (let n = 0; n < count; n++) {
    const inquiry = newInquiry({ ...INQUIRY, userId: null, now: NOW, state: 'waiting' })
    insertInquiry(db, inquiry).run()
  }
  const hire = (deliver: Deliver, options: { attemptMs?: number } = {}) =>
    new Courier({
      ...options,
      db: openDb(file),
      deliver,
      now: () => clock.now,
      onTrouble: (trouble) => troubles.push(trouble),
      onError: (error) => errors.push(error),
    })
  return { db, clock, errors, troubles, hire }
}

describe('Courier', () => {
  it('never has an inquiry that another one has', async () => {
    const { db, hire, errors } = setUp(100)
    const delivered: string[] = []
    const under = new Set<string>()
    const deliver: Deliver = async ({ id }) => {
      assert.ok(!under.has(id))
      under.add(id)
      await nextTurn()
      delivered.push(id)
    }
    const couriers = [1, 2, 3].map(() => hire(deliver))
    for (let round = 0; delivered.length < 100 && round < 1_000; round++) {
      await Promise.all(couriers.map((courier) => courier.look()))
    }
    assert.equal(new Set(delivered).size, 100)
    assert.equal(delivered.length, 100)
    assert.deepEqual(errors, [])
    assert.equal(listInquiries(db, 'delivered').length, 100)
  })

  it('takes over from one that is gone once the lease has ended, which then changes nothing', async () => {
    const { db, clock, hire } = setUp(1)
    const late = Promise.withResolvers<void>()
    const delivered: string[] = []
    const gone = hire(() => late.promise)
    const going = gone.look()
    await nextTurn()
    await nextTurn()
    const next = hire(async ({ id }) => {
      delivered.push(id)
      throw new Error('not today')
    })
    clock.now += LEASE_MS - 1
    await next.look()
    assert.equal(delivered.length, 0)
    clock.now += 1
    await next.look()
    assert.equal(delivered.length, 1)
    late.resolve()
    await going
    const [row] = listInquiries(db)
    assert.deepEqual([row?.state, row?.attempts, row?.trouble], ['waiting', 2, 'not today'])
  })

  it('does not wait a day for what failed while the clock was a day ahead', async () => {
    const { db, clock, hire } = setUp(1)
    clock.now += 24 * 3_600_000
    const fail = async () => {
      throw new Error('not today')
    }
    await hire(fail).look()
    clock.now -= 24 * 3_600_000
    await hire(async () => {}).look()
    assert.equal(listInquiries(db, 'delivered').length, 1)
  })

  it('leaves a receiver alone that has failed, until the next look', async () => {
    const { hire, troubles } = setUp(10)
    const courier = hire(async () => {
      throw new Error('down')
    })
    await courier.look()
    courier.wake()
    await nextTurn()
    await nextTurn()
    assert.equal(troubles.length, 1)
    await courier.look()
    assert.equal(troubles.length, 2)
    assert.equal(new Set(troubles.map(({ inquiryId }) => inquiryId)).size, 2)
  })

  it('waits where another process has locked the database, and loses nothing', async () => {
    const { db, hire, errors } = setUp(1)
    const delivered: string[] = []
    const courier = hire(async ({ id }) => {
      delivered.push(id)
    })
    db.$client.exec('BEGIN IMMEDIATE')
    await courier.look()
    assert.equal(delivered.length, 0)
    db.$client.exec('ROLLBACK')
    await courier.look()
    assert.equal(delivered.length, 1)
    assert.deepEqual(errors, [])
  })

  it('breaks off what takes too long: a webhook that is silent', async () => {
    const { db, hire } = setUp(1)
    const asked: string[] = []
    const silent = createServer((request) => asked.push(String(request.headers['webhook-id'])))
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    // safe: a TCP server that listens has such an address
    const { port } = silent.address() as AddressInfo
    const url = `http://127.0.0.1:${port}`
    const deliver = createDeliverWebhook({ url, secret: 'whsec_', now: () => NOW })
    await hire(deliver, { attemptMs: 200 }).look()
    silent.closeAllConnections()
    silent.close()
    const [row] = listInquiries(db)
    assert.equal(row?.trouble, 'the webhook did not answer: timeout')
    assert.deepEqual([row.state, asked], ['waiting', [row.id]])
  })

  it('breaks off what takes too long: a mail server that is silent', async () => {
    const { db, hire } = setUp(1)
    await using mail = await startMailServer({ answer: () => 'hang' })
    using connection = openMailConnection({ url: mail.url, from: 'geo@shop.example' })
    const mailing = { to: 'support@shop.example', from: 'geo@shop.example' }
    const deliver = createDeliverMail({ ...mailing, sendMail: connection.send })
    await hire(deliver, { attemptMs: 500 }).look()
    const [row] = listInquiries(db)
    assert.equal(row?.state, 'waiting')
    assert.equal(row.trouble, 'the mail server did not take it: EABORT')
  })

  it('begins nothing once it is stopped', async () => {
    const { db, hire } = setUp(1)
    const courier = hire(async () => assert.fail('delivered'))
    await courier.stop()
    await courier.look()
    assert.equal(listInquiries(db, 'waiting').length, 1)
  })
})

describe('requeue', () => {
  it('leaves alone what is being delivered', async () => {
    const { db, clock, hire } = setUp(1)
    const late = Promise.withResolvers<void>()
    const going = hire(() => late.promise).look()
    await nextTurn()
    await nextTurn()
    const [row = assert.fail('it is gone')] = listInquiries(db)
    assert.equal(requeue(db, row, clock.now).run().changes, 0)
    assert.equal(requeue(db, row, clock.now + LEASE_MS).run().changes, 1)
    late.resolve()
    await going
  })
})

describe('findInquiries', () => {
  it('finds by the beginning of the id, taken literally', () => {
    const { db } = setUp(3)
    const [row = assert.fail('there is none')] = listInquiries(db)
    assert.deepEqual(findInquiries(db, row.id.slice(0, 13)), [row])
    assert.deepEqual(findInquiries(db, row.id), [row])
    for (const start of ['%', '_', `${row.id}0`, "' OR 1"])
      assert.deepEqual(findInquiries(db, start), [])
  })
})
