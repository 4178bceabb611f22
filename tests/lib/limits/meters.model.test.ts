import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createFlusher, type Flusher } from '../../../lib/db/flusher.ts'
import { type Db, openDb } from '../../../lib/db/open.ts'
import { createMeterStore } from '../../../lib/limits/meter-store.ts'
import { type Metered, Meters } from '../../../lib/limits/meters.ts'
import { NOON } from '../../helpers.ts'

/*
 * Meters against a plain model, over random requests, steps of the clock, changes of plan, flushes,
 * crashes and restarts. The model counts in whole numbers: a request is 60,000 parts, of which a
 * plan gives `capacity` back in each millisecond.
 */

const PARTS = 60_000
const DAY_MS = 86_400_000

const PLANS = [
  { requestsPerMinute: 3, monthlyCap: 5 },
  { requestsPerMinute: 7, monthlyCap: 20 },
  { requestsPerMinute: 100, monthlyCap: 1_000 },
] as const

interface ModelBucket {
  readonly spent: number
  readonly at: number
}

/** What is kept in a place: in memory, or in the database. */
interface Kept {
  buckets: Map<string, ModelBucket>
  /** By user and month. */
  periods: Map<string, number>
  /** By user and day. */
  days: Map<string, number>
}

class Model {
  now = NOON
  plans = new Map<string, number>()
  memory: Kept = emptyKept()
  disk: Kept = emptyKept()
  /** Callers that were answered since the last flush: a refusal alone is not written. */
  changed = new Set<string>()
  /** Notices by user, month and level that were written. */
  notices = new Set<string>()
  /** Cap that was last in force when the user was counted in the month, since the last flush. */
  caps = new Map<string, number>()

  caller(name: string): Metered {
    const [userId = '', keyId] = name.split('/')
    const plan = PLANS[this.plans.get(userId) ?? 0] ?? PLANS[0]
    return { userId, plan, key: keyId === undefined ? null : { id: keyId } }
  }

  take(name: string): boolean {
    const capacity = this.caller(name).plan.requestsPerMinute
    const { spent, at } = this.memory.buckets.get(name) ?? { spent: 0, at: this.now }
    const elapsed = Math.max(0, this.now - at)
    const left = Math.max(0, Math.min(spent, capacity * PARTS) - elapsed * capacity)
    const allowed = left + PARTS <= capacity * PARTS
    this.memory.buckets.set(name, { spent: allowed ? left + PARTS : left, at: this.now })
    if (allowed) this.changed.add(name)
    return allowed
  }

  count(name: string): void {
    const { userId, plan } = this.caller(name)
    const period = `${userId} ${monthOf(this.now)}`
    add(this.memory.periods, period)
    add(this.memory.days, `${userId} ${Math.floor(this.now / DAY_MS)}`)
    this.caps.set(period, plan.monthlyCap)
  }

  requests(userId: string): number {
    return this.memory.periods.get(`${userId} ${monthOf(this.now)}`) ?? 0
  }

  flush(): void {
    const { periods, days } = copy(this.memory)
    this.disk = { buckets: this.disk.buckets, periods, days }
    for (const name of this.changed) {
      const bucket = this.memory.buckets.get(name)
      if (bucket !== undefined) this.disk.buckets.set(name, bucket)
    }
    this.changed.clear()
    for (const [period, cap] of this.caps) this.tell(period, cap)
    this.caps.clear()
  }

  tell(period: string, cap: number): void {
    const requests = this.memory.periods.get(period) ?? 0
    for (const level of [80, 100]) {
      const isDue = requests >= (level * cap) / 100
      if (isDue && !this.wasTold(period, level)) this.notices.add(`${period} ${level}`)
    }
  }

  wasTold(period: string, level: number): boolean {
    return [100, 80].some((told) => told >= level && this.notices.has(`${period} ${told}`))
  }

  /** A crash forgets what is not written; a bucket whose last change was a refusal is as it was. */
  crash(): void {
    this.memory = copy(this.disk)
    this.caps.clear()
    this.changed.clear()
    this.restart()
  }

  restart(): void {
    for (const [name, { spent, at }] of this.memory.buckets) {
      if (at < this.now - 60_000) this.memory.buckets.delete(name)
      else this.memory.buckets.set(name, { spent, at: Math.min(at, this.now) })
    }
  }

  /** What is not written yet is kept. */
  removeIdle(): void {
    const isIdle = ({ at }: ModelBucket) => this.now - at > 60_000
    for (const [name, bucket] of this.disk.buckets) {
      if (isIdle(bucket)) this.disk.buckets.delete(name)
    }
    for (const [name, bucket] of this.memory.buckets) {
      if (isIdle(bucket) && !this.changed.has(name)) this.memory.buckets.delete(name)
    }
  }
}

function emptyKept(): Kept {
  return { buckets: new Map(), periods: new Map(), days: new Map() }
}

function copy({ buckets, periods, days }: Kept): Kept {
  return { buckets: new Map(buckets), periods: new Map(periods), days: new Map(days) }
}

function add(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1)
}

function monthOf(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

class Real {
  readonly db: Db = openDb(':memory:')
  readonly notices: string[] = []
  flusher: Flusher = createFlusher(this.db)
  meters: Meters = this.open(NOON)

  open(now: number): Meters {
    this.flusher = createFlusher(this.db)
    return new Meters(
      {
        store: createMeterStore(this.db),
        write: this.flusher.add,
        audit: ({ userId, warned }) => {
          const insert = `INSERT INTO audit_log (app, actor_id, action, detail, created_at)
            VALUES ('api', ?, 'cap', ?, 0)`
          this.db.$client.prepare(insert).run(userId, String(warned))
        },
        announce: ({ userId, warned }) => this.notices.push(`${userId} ${warned}`),
      },
      now,
    )
  }
}

type Command = fc.Command<Model, Real>

const NAMES = ['ada', 'ada/k1', 'ada/k2', 'bob/k3']
const USERS = ['ada', 'bob']

function command(text: string, run: (model: Model, real: Real) => void): Command {
  const checked = (model: Model, real: Real) => {
    run(model, real)
    compare(model, real)
  }
  return { check: () => true, run: checked, toString: () => text }
}

/** Everything that can be asked is as the model says. */
function compare(model: Model, { meters, db, notices }: Real): void {
  for (const userId of USERS) {
    assert.equal(meters.periodRequests(userId, model.now), model.requests(userId))
    const byDay = meters.requestsByDay(userId, 0)
    const days = [...byDay].map(([day, requests]) => [`${userId} ${day}`, requests] as const)
    const expected = [...model.memory.days].filter(([key]) => key.startsWith(`${userId} `))
    assert.deepEqual(days.toSorted(), expected.toSorted())
  }
  for (const name of NAMES) {
    const caller = model.caller(name)
    const isOver = model.requests(caller.userId) >= caller.plan.monthlyCap
    assert.equal(meters.isOverCap(caller, model.now), isOver, name)
  }
  const rows = db.$client
    .prepare<[], { actor_id: string; detail: string }>('SELECT actor_id, detail FROM audit_log')
    .all()
  const told = [...model.notices].map((notice) => notice.split(' '))
  const expected = told.map(([userId, , level]) => `${userId} ${level}`).sort()
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
      assert.equal(meters.take(caller, model.now).allowed, allowed, `request ${n} of ${name}`)
      if (!allowed) continue
      model.count(name)
      meters.count(caller, model.now)
    }
  }),
)

const commands = [
  // Often, so that limits and caps are met.
  ...Array.from({ length: 8 }, () => requests),
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
  fc.constant(
    command('a flush', (model, { flusher }) => {
      flusher.flushNow()
      model.flush()
    }),
  ),
  fc.constant(
    command('a flush that fails', (_, { db, flusher }) => {
      db.$client.exec(
        "CREATE TRIGGER full BEFORE INSERT ON buckets BEGIN SELECT RAISE(ABORT, 'full'); END",
      )
      const fails = flusher.size() > 0
      try {
        flusher.flushNow()
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
      real.meters = real.open(model.now)
    }),
  ),
  fc.constant(
    command('a restart', (model, real) => {
      real.flusher.flushNow()
      model.flush()
      model.crash()
      real.meters = real.open(model.now)
    }),
  ),
  fc.constant(
    command('idle callers are removed', (model, { meters }) => {
      meters.removeIdle(model.now)
      model.removeIdle()
    }),
  ),
]

describe('meters', () => {
  it('limit and count as the model does, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(fc.commands(commands, { maxCommands: 100, size: 'max' }), (steps) => {
        const setup = () => ({ model: new Model(), real: new Real() })
        fc.modelRun(setup, steps)
      }),
      { numRuns: 100 },
    )
  })
})
