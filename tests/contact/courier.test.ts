import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  Courier,
  type CourierOptions,
  type Deliver,
  type FailedAttempt,
} from '../../lib/contact/courier.ts'
import { inquiryQueue } from '../../lib/contact/delivery-queue.ts'
import { inquiryStore } from '../../lib/contact/delivery-store.ts'
import { toInquiryMessage } from '../../lib/contact/inquiry-mail.ts'
import {
  findInquiries,
  type InquiryRow,
  insertInquiry,
  listInquiries,
  newInquiry,
} from '../../lib/contact/inquiry-store.ts'
import { createMailDelivery } from '../../lib/contact/mail-delivery.ts'
import { createDeliverWebhook } from '../../lib/contact/webhook.ts'
import { openDb } from '../../lib/db/open.ts'
import { openMailConnection } from '../../lib/parts/mail.ts'
import { ONLY_PROCESS } from '../../lib/storage/only-process.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { startMailServer } from '../support/mail-server.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { INQUIRY } from './inquiry.ts'

const NOW = 1_000_000
const LEASE_MS = 30_000
const folder = tempFolder()

/** A database with `count` waiting inquiries, and couriers with their own connections. */
async function setUp(count: number) {
  const file = join(folder, `${crypto.randomUUID()}.db`)
  const db = openDb(file)
  const clock = { now: NOW }
  const errors: unknown[] = []
  const failures: FailedAttempt[] = []
  const addInquiry = async () => {
    const inquiry = newInquiry({ ...INQUIRY, userId: null, now: NOW, state: 'waiting' })
    await insertInquiry(db, inquiry).run()
  }
  for (let n = 0; n < count; n++) await addInquiry()
  type Options = Partial<Pick<CourierOptions<InquiryRow>, 'attemptMs' | 'queue'>>
  const newCourier = (deliver: Deliver<InquiryRow>, options: Options = {}) =>
    new Courier({
      queue: inquiryQueue,
      ...options,
      db: openDb(file),
      runAlone: (work) => ONLY_PROCESS.leases.runAlone('inquiries', work),
      deliver,
      now: () => clock.now,
      onFailure: (attempt) => failures.push(attempt),
      onError: (error) => errors.push(error),
    })
  return { db, clock, errors, failures, addInquiry, newCourier }
}

describe('Courier', () => {
  it('never holds an inquiry that another courier holds', async () => {
    const { db, newCourier, errors } = await setUp(100)
    const delivered: string[] = []
    const inDelivery = new Set<string>()
    const deliver: Deliver<InquiryRow> = async ({ id }) => {
      assert.ok(!inDelivery.has(id))
      inDelivery.add(id)
      await nextTurn()
      delivered.push(id)
    }
    const couriers = [1, 2, 3].map(() => newCourier(deliver))
    for (let round = 0; delivered.length < 100 && round < 1_000; round++) {
      await Promise.all(couriers.map((courier) => courier.retry()))
    }
    assert.equal(new Set(delivered).size, 100)
    assert.equal(delivered.length, 100)
    assert.deepEqual(errors, [])
    assert.equal((await listInquiries(db, 'delivered')).length, 100)
  })

  it('delivers an inquiry that comes while it looks for due ones', async () => {
    const { db, addInquiry, newCourier } = await setUp(0)
    let hasCome = false
    const queue = {
      ...inquiryQueue,
      isDue: async (...args: Parameters<typeof inquiryQueue.isDue>) => {
        const isDue = await inquiryQueue.isDue(...args)
        if (!hasCome) await addInquiry()
        if (!hasCome) courier.wake()
        hasCome = true
        return isDue
      },
    }
    const courier = newCourier(async () => {}, { queue })
    await courier.retry()
    assert.equal((await listInquiries(db, 'delivered')).length, 1)
  })

  it('takes over the inquiry of a dead courier once the lease has ended', async () => {
    const { db, clock, newCourier } = await setUp(1)
    const late = Promise.withResolvers<void>()
    const delivered: string[] = []
    const dead = newCourier(() => late.promise)
    const running = dead.retry()
    await nextTurn()
    await nextTurn()
    const next = newCourier(async ({ id }) => {
      delivered.push(id)
      throw new Error('not today')
    })
    clock.now += LEASE_MS - 1
    await next.retry()
    assert.equal(delivered.length, 0)
    clock.now += 1
    await next.retry()
    assert.equal(delivered.length, 1)
    late.resolve()
    await running
    const [row] = await listInquiries(db)
    assert.deepEqual([row?.state, row?.attempts, row?.lastError], ['waiting', 2, 'not today'])
  })

  it('does not wait a day for an inquiry that failed while the clock was a day ahead', async () => {
    const { db, clock, newCourier } = await setUp(1)
    clock.now += 24 * 3_600_000
    const fail = async () => {
      throw new Error('not today')
    }
    await newCourier(fail).retry()
    clock.now -= 24 * 3_600_000
    await newCourier(async () => {}).retry()
    assert.equal((await listInquiries(db, 'delivered')).length, 1)
  })

  it('pauses after a failure until the next retry', async () => {
    const { newCourier, failures } = await setUp(10)
    const courier = newCourier(async () => {
      throw new Error('down')
    })
    await courier.retry()
    courier.wake()
    await nextTurn()
    await nextTurn()
    assert.equal(failures.length, 1)
    await courier.retry()
    assert.equal(failures.length, 2)
    assert.equal(new Set(failures.map(({ id }) => id)).size, 2)
  })

  it('waits if another process has locked the database, and loses nothing', async () => {
    const { db, newCourier, errors } = await setUp(1)
    const delivered: string[] = []
    const courier = newCourier(async ({ id }) => {
      delivered.push(id)
    })
    db.$client.exec('BEGIN IMMEDIATE')
    await courier.retry()
    assert.equal(delivered.length, 0)
    db.$client.exec('ROLLBACK')
    await courier.retry()
    assert.equal(delivered.length, 1)
    assert.deepEqual(errors, [])
  })

  it('aborts an attempt that takes too long: a silent webhook', async () => {
    const { db, newCourier } = await setUp(1)
    await using silent = await startLoopbackServer(() => {})
    const url = silent.origin
    const deliver = createDeliverWebhook({ url, secret: 'whsec_', now: () => NOW })
    await newCourier(deliver, { attemptMs: 200 }).retry()
    const [row] = await listInquiries(db)
    assert.equal(row?.lastError, 'the webhook did not answer: timeout')
    assert.equal(row.state, 'waiting')
  })

  it('aborts an attempt that takes too long: a silent mail server', async () => {
    const { db, newCourier } = await setUp(1)
    await using mail = await startMailServer({ answer: () => 'hang' })
    using connection = openMailConnection({ url: mail.url, from: 'geo@shop.example' })
    const mailing = { to: 'support@shop.example', from: 'geo@shop.example' }
    const deliver = createMailDelivery(connection.send, (inquiry: InquiryRow) =>
      toInquiryMessage(inquiry, mailing),
    )
    await newCourier(deliver, { attemptMs: 500 }).retry()
    const [row] = await listInquiries(db)
    assert.equal(row?.state, 'waiting')
    assert.equal(row.lastError, 'the mail server did not accept the message: EABORT')
  })

  it('begins nothing once it is stopped', async () => {
    const { db, newCourier } = await setUp(1)
    const courier = newCourier(async () => assert.fail('delivered'))
    await courier.stop()
    await courier.retry()
    assert.equal((await listInquiries(db, 'waiting')).length, 1)
  })
})

describe('requeueing', () => {
  it('does not change an inquiry that is being delivered', async () => {
    const { db, clock, newCourier } = await setUp(1)
    const late = Promise.withResolvers<void>()
    const running = newCourier(() => late.promise).retry()
    await nextTurn()
    await nextTurn()
    const [row = assert.fail('it is gone')] = await listInquiries(db)
    assert.equal((await inquiryStore.requeue(db, row, clock.now).run()).changes, 0)
    assert.equal((await inquiryStore.requeue(db, row, clock.now + LEASE_MS).run()).changes, 1)
    late.resolve()
    await running
  })
})

describe('findInquiries', () => {
  it('finds inquiries by the beginning of the id, taken literally', async () => {
    const { db } = await setUp(3)
    const [row = assert.fail('there is none')] = await listInquiries(db)
    assert.deepEqual(await findInquiries(db, row.id.slice(0, 13)), [row])
    assert.deepEqual(await findInquiries(db, row.id), [row])
    for (const start of ['%', '_', `${row.id}0`, "' OR 1"])
      assert.deepEqual(await findInquiries(db, start), [])
  })
})
