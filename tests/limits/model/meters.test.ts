import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Ledger } from '../../../lib/db/ledger/ledger.ts'
import { prepareCounts } from '../../../lib/db/ledger/pending-counts.ts'
import { type LocalDb, openDb } from '../../../lib/db/open.ts'
import { createMeterStore } from '../../../lib/limits/meter-store.ts'
import { Meters } from '../../../lib/limits/meters.ts'
import { DAY_MS } from '../../../lib/parts/durations.ts'
import { putEmptyDatabase } from '../../support/data-folder.ts'
import { NOON } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { Model, PLANS } from './model.ts'

/*
 * Compares meters with a plain model, over random requests, clock steps, changes of plan, paid periods
 * with and without overages, flushes, crashes and restarts. The model counts in whole numbers: a request
 * has 60,000 parts, and each millisecond refills `capacity` parts.
 */

class Real {
  readonly db: LocalDb = openWithUsers()
  readonly notices: string[] = []
  ledger: Ledger = this.#openLedger()
  meters: Meters = this.#openMeters(NOON)

  open(now: number): void {
    this.ledger = this.#openLedger()
    this.meters = this.#openMeters(now)
  }

  #openLedger(): Ledger {
    const write = prepareCounts(this.db.$client)
    return new Ledger(
      (counts) => this.db.engine.whenFree(() => write(counts), 1),
      ({ userId, threshold }) => this.notices.push(`${userId} ${threshold}`),
    )
  }

  #openMeters(now: number): Meters {
    return new Meters(
      {
        store: createMeterStore(this.db),
        ledger: this.ledger,
        record: ({ userId, threshold }) => [
          {
            sql: `INSERT INTO audit_log (app, actor_id, action, detail, created_at)
              VALUES ('api', ?, 'cap', ?, 0)`,
            params: [userId, threshold],
          },
        ],
      },
      now,
    )
  }
}

const folder = tempFolder()
let files = 0

/** Only the use of users is written. */
function openWithUsers(): LocalDb {
  const path = join(folder, `${files++}.db`)
  putEmptyDatabase(path)
  const db = openDb(path)
  for (const name of USERS) {
    const insert = 'INSERT INTO users (id, email, plan, created_at) VALUES (?, ?, ?, 0)'
    db.$client.prepare(insert).run(name, `${name}@example.com`, 'free')
  }
  return db
}

type Command = fc.AsyncCommand<Model, Real>

const NAMES = ['ada', 'ada/k1', 'ada/k2', 'bob/k3']
const USERS = ['ada', 'bob']

function command(text: string, run: (model: Model, real: Real) => unknown): Command {
  const checked = async (model: Model, real: Real) => {
    await run(model, real)
    await compare(model, real)
  }
  return { check: () => true, run: checked, toString: () => text }
}

/** Asserts that the meters report the same as the model. */
async function compare(model: Model, { meters, db, notices }: Real): Promise<void> {
  for (const userId of USERS) {
    model.openUser(userId)
    const paid = model.paid.get(userId) ?? null
    assert.equal(meters.periodRequests({ userId, paid }, model.now), model.requests(userId))
  }
  for (const name of NAMES) {
    const caller = model.caller(name)
    assert.equal(meters.open(caller, model.now).isOverCap(), model.isReduced(name), name)
    model.open(name)
    const { own, all } = model.left(name)
    const { remaining, ofAllKeys } = meters.peek(caller, model.now)
    assert.deepEqual([remaining, ofAllKeys], [Math.min(own, all), all < own], name)
  }
  const charged = `SELECT user_id || ' ' || period_start AS period, overage FROM usage_by_period
    WHERE overage > 0`
  const overages = db.$client.prepare<[], { period: string; overage: number }>(charged).all()
  const chargedFor = overages.map(({ period, overage }) => [period, overage] as const)
  assert.deepEqual(new Map(chargedFor.toSorted()), new Map([...model.disk.overages].toSorted()))
  const rows = db.$client
    .prepare<[], { actor_id: string; detail: string }>('SELECT actor_id, detail FROM audit_log')
    .all()
  const expected = model.notices.toSorted()
  assert.deepEqual(rows.map((row) => `${row.actor_id} ${row.detail}`).sort(), expected)
  assert.deepEqual(notices.toSorted(), expected)
}

const request = fc.record({
  name: fc.constantFrom(...NAMES),
  times: fc.integer({ min: 1, max: 6 }),
})

const requests = request.map(({ name, times }) =>
  command(`${times} requests of ${name}`, (model, { meters }) => {
    for (let n = 0; n < times; n++) {
      const caller = model.caller(name)
      const allowed = model.take(name)
      const meter = meters.open(caller, model.now)
      assert.equal(meter.take(model.now).allowed, allowed, `request ${n} of ${name}`)
      if (!allowed) continue
      model.count(name)
      meter.count()
    }
  }),
)

const batches = fc
  .record({ name: fc.constantFrom(...NAMES), addresses: fc.integer({ min: 0, max: 6 }) })
  .map(({ name, addresses }) =>
    command(`a batch of ${addresses} addresses of ${name}`, async (model, { meters }) => {
      const caller = model.caller(name)
      const allowed = model.take(name)
      const meter = meters.open(caller, model.now)
      assert.equal(meter.take(model.now).allowed, allowed, `a batch of ${name}`)
      if (!allowed) return
      const weight = Math.max(1, addresses)
      const isWhole = model.takeInstead(name, weight)
      assert.equal((await meter.takeInstead(model.now, weight)).allowed, isWhole, name)
      if (!isWhole) return
      for (let n = 0; n < addresses; n++) model.count(name)
      meter.count(addresses)
    }),
  )

/** What a user pays for: nothing, some requests over the cap, or any number. */
const overages = fc.constantFrom(null, 0, 1, 2, 5, 20, Number.POSITIVE_INFINITY).map((maxUnits) => {
  return maxUnits === null ? null : { maxUnits, spendingCap: maxUnits, currency: 'usd' }
})

const commands = [
  // Frequent, so that limits and caps are reached.
  ...Array.from({ length: 8 }, () => requests),
  batches,
  batches,
  fc
    .oneof(
      fc.integer({ min: 1, max: 30_000 }),
      fc.constantFrom(-3_600_000, 3_600_000, DAY_MS, -DAY_MS, 16 * DAY_MS, -20 * DAY_MS),
    )
    .map((ms) =>
      command(`the clock steps by ${ms}`, (model) => {
        model.now += ms
      }),
    ),
  fc
    .record({ user: fc.constantFrom(...USERS), plan: fc.nat(PLANS.length - 1) })
    .map(({ user, plan }) =>
      command(`${user} changes to plan ${plan}`, (model) => {
        model.plans.set(user, plan)
      }),
    ),
  fc
    .record({
      user: fc.constantFrom(...USERS),
      length: fc.constantFrom(40_000, DAY_MS, 28 * DAY_MS),
      gone: fc.double({ min: 0, max: 0.99, noNaN: true }),
      overages,
    })
    .map(({ user, length, gone, overages }) =>
      command(`${user} pays for a period of ${length} ms, ${gone} of it gone`, (model) => {
        const start = model.now - Math.floor(gone * length)
        model.paid.set(user, { start, end: start + length, interval: 'month', overages })
      }),
    ),
  fc.record({ user: fc.constantFrom(...USERS), overages }).map(({ user, overages: wanted }) =>
    command(`${user} pays for ${wanted?.maxUnits ?? 'no'} requests over the cap`, (model) => {
      const paid = model.paid.get(user)
      if (paid !== undefined) model.paid.set(user, { ...paid, overages: wanted })
    }),
  ),
  fc.constantFrom(...USERS).map((user) =>
    command(`${user} pays no more`, (model) => {
      model.paid.delete(user)
    }),
  ),
  fc.constant(
    command('a flush', async (model, { ledger }) => {
      await ledger.flush()
      model.flush()
    }),
  ),
  fc.constant(
    command('a flush that fails', async (_, { db, ledger }) => {
      db.$client.exec(
        "CREATE TRIGGER full BEFORE INSERT ON usage_by_period BEGIN SELECT RAISE(ABORT, 'full'); END",
      )
      const fails = ledger.size > 0
      try {
        await ledger.flush()
        assert.equal(fails, false)
      } catch (error) {
        assert.match(String(error), /full/)
      }
      db.$client.exec('DROP TRIGGER full')
    }),
  ),
  fc.constant(
    command('a crash', (model, real) => {
      model.crash()
      real.open(model.now)
    }),
  ),
  fc.constant(
    command('a restart', async (model, real) => {
      await real.ledger.flush()
      model.flush()
      model.crash()
      real.open(model.now)
    }),
  ),
  fc.constant(
    command('idle callers are removed', async (model, { meters }) => {
      await meters.removeIdle(model.now)
      model.removeIdle()
    }),
  ),
]

describe('meters', () => {
  it('limit and count as the model does, after any sequence of events', async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 100, size: 'max' }), async (steps) => {
        const real = new Real()
        await fc.asyncModelRun(() => ({ model: new Model(), real }), steps)
        real.db.$client.close()
      }),
      { numRuns: 100 },
    )
  })
})
