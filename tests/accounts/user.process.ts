import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setPassword } from '../../lib/access/stored-password.ts'
import { insertAudit } from '../../lib/accounts/audit.ts'
import { findUserByEmail, insertUser, newUser } from '../../lib/accounts/users.ts'
import { billingCustomers, subscriptions } from '../../lib/db/billing-tables.ts'
import { eq } from '../../lib/db/drizzle.ts'
import { openDb } from '../../lib/db/open.ts'
import { auditLog, users } from '../../lib/db/tables.ts'
import { newDataFolder, runScript } from '../support/process.ts'

const { dataDir, settings, remove } = newDataFolder()
const db = openDb(join(dataDir, 'app.db'))
after(() => {
  db.$client.close()
  remove()
})

const userCommand = (...options: string[]) => runScript(['scripts/user.ts', ...options], settings)
const keyCommand = (...options: string[]) => runScript(['scripts/key.ts', ...options], settings)

async function audited(email: string) {
  const user = await findUserByEmail(db, email)
  const rows = await db.select().from(auditLog).orderBy(auditLog.id).all()
  return rows
    .filter(({ actorId }) => actorId === user?.id)
    .map(({ app, actorLabel, action, detail }) => [app, actorLabel, action, detail])
}

/** Adds a user with a password, as sign-up does. */
async function signUp(email: string) {
  const user = newUser({ email, plan: 'free', now: 1 })
  await insertUser(db, user).run()
  await setPassword(db, user.id, { hash: 'a hash', app: 'api', now: 1 }).run()
  return user
}

describe('npm run user', () => {
  it('creates a user, changes the plan, and does nothing if the plan is already right', async () => {
    const options = ['--email', 'Ada@example.com']
    const made = await userCommand(...options)
    const stderr = 'Created the user ada@example.com, plan unlimited\n'
    assert.deepEqual(made, { code: 0, stdout: '', stderr })
    const changed = await userCommand(...options, '--plan', 'pro')
    assert.equal(changed.stderr, 'Changed the plan of ada@example.com from unlimited to pro\n')
    const kept = await userCommand(...options, '--plan', 'pro')
    assert.equal(kept.stderr, 'ada@example.com has the plan pro\n')
    assert.deepEqual(await audited('ada@example.com'), [
      ['cli', 'npm run user', 'create_user', 'unlimited'],
      ['cli', 'npm run user', 'change_plan', 'pro'],
    ])
  })

  it('lists all users, oldest first', async () => {
    await userCommand('--email', 'last@example.com', '--plan', 'starter')
    await keyCommand('--email', 'last@example.com', '--name', 'a')
    const last = eq(users.email, 'last@example.com')
    await db.update(users).set({ emailVerified: true }).where(last).run()
    const { code, stdout, stderr } = await userCommand('--list')
    assert.deepEqual([code, stderr], [0, ''])
    const lines = stdout.trimEnd().split('\n')
    assert.match(lines[0] ?? '', /^E-mail +Plan +Assigned +Role +Keys +Verified +Created$/)
    assert.match(lines[1] ?? '', /^ada@example\.com +pro +user +0 +no +20\d\d-\d\d-\d\d$/)
    const listed = JSON.parse((await userCommand('--list', '--json')).stdout)
    assert.equal(listed.length, lines.length - 1)
    assert.partialDeepStrictEqual(listed.at(-1), {
      ...{ email: 'last@example.com', plan: 'starter', role: 'user' },
      ...{ keys: 1, emailVerified: true },
    })
    assert.match(lines.at(-1) ?? '', /^last@example\.com +starter +user +1 +yes +20\d\d-\d\d-\d\d$/)
  })

  it('lists the plan that counts, and the assigned one where it differs', async () => {
    const email = 'buyer@example.com'
    await userCommand('--email', email)
    const { id: userId } = (await findUserByEmail(db, email)) ?? assert.fail()
    await db.insert(billingCustomers).values({ userId, customerId: 'cus_1', createdAt: 1 }).run()
    const period = { periodStart: 0, periodEnd: 1, overages: false, interval: 'month' } as const
    const bought = { userId, id: 'sub_1', itemId: 'si_1', plan: 'pro', status: 'active' } as const
    await db
      .insert(subscriptions)
      .values({ ...bought, ...period })
      .run()
    const list = async () => (await userCommand('--list')).stdout
    assert.match(await list(), /^buyer@example\.com +pro +unlimited +user /m)
    const listed = JSON.parse((await userCommand('--list', '--json')).stdout)
    const found = listed.find((user: { email: string }) => user.email === email)
    assert.deepEqual([found.plan, found.assignedPlan], ['pro', 'unlimited'])
    await db.update(subscriptions).set({ status: 'canceled' }).run()
    assert.match(await list(), /^buyer@example\.com +unlimited +user /m)
  })

  it('warns if the user signed up but has not verified the address', async () => {
    const email = 'mallory@example.com'
    const user = await signUp(email)
    const warning = /^Warning: somebody signed up as mallory@example\.com without verifying/
    const setPlan = await userCommand('--email', email, '--plan', 'pro')
    assert.deepEqual([setPlan.code, warning.test(setPlan.stderr)], [0, true])
    const made = await keyCommand('--email', email, '--name', 'a')
    assert.deepEqual([made.code, warning.test(made.stderr)], [0, true])
    await db.update(users).set({ emailVerified: true }).where(eq(users.id, user.id)).run()
    assert.doesNotMatch((await userCommand('--email', email)).stderr, /Warning/)
  })

  it('does not warn about accounts that a command made, or set the password of', async () => {
    await userCommand('--email', 'op@example.com')
    const made = (await findUserByEmail(db, 'op@example.com')) ?? assert.fail()
    const password = { hash: 'a hash', app: 'cli', now: 1 } as const
    await setPassword(db, made.id, password).run()
    assert.doesNotMatch((await userCommand('--email', made.email)).stderr, /Warning/)
    const known = await signUp('known@example.com')
    assert.match((await userCommand('--email', known.email)).stderr, /^Warning/)
    await setPassword(db, known.id, password).run()
    assert.doesNotMatch((await userCommand('--email', known.email)).stderr, /Warning/)
  })

  it('warns if an account that a command made has another address since', async () => {
    await userCommand('--email', 'old@example.com')
    const user = (await findUserByEmail(db, 'old@example.com')) ?? assert.fail()
    const times = { hash: 'a hash', app: 'dashboard', now: 1 } as const
    await setPassword(db, user.id, times).run()
    await db.update(users).set({ email: 'boss@example.com' }).where(eq(users.id, user.id)).run()
    const event = { app: 'dashboard', actorId: user.id, actorLabel: null, createdAt: 1 } as const
    await insertAudit(db, { ...event, action: 'change_email' }).run()
    assert.match((await userCommand('--email', 'boss@example.com')).stderr, /^Warning/)
  })

  it('refuses bad options, and creates nothing', async () => {
    const before = db.$client.prepare('SELECT count(*) FROM users').pluck().get()
    const bad = [
      [[], /^--email is missing/],
      [['--email', 'eve'], /^--email must be an e-mail address/],
      [['--email', 'eve@local_host'], /^--email must be an e-mail address\n/],
      [['--email', 'eve@example.com', '--plan', 'gold'], /^--plan must be one of free, starter/],
      [['--email', 'eve@example.com', '--list'], /^--email cannot be used with --list/],
      [['--email', 'eve@example.com', '--name', 'x'], /Unknown option/],
      [['--email', 'eve@example.com', '--json'], /^--json cannot be used here/],
    ] as const
    for (const [options, message] of bad) {
      const { code, stdout, stderr } = await userCommand(...options)
      assert.deepEqual([code, stdout], [stderr.includes('\n\nUsage: ') ? 2 : 1, ''])
      assert.match(stderr, message)
    }
    assert.equal(db.$client.prepare('SELECT count(*) FROM users').pluck().get(), before)
  })

  it('refuses a folder without a database unless it creates a user, and leaves none there', async () => {
    const empty = newDataFolder()
    const commands = [
      ['scripts/user.ts', '--list'],
      ['scripts/user.ts', '--email', 'ada@example.com', '--link'],
      ['scripts/key.ts', '--email', 'ada@example.com', '--list'],
      ['scripts/contact.ts'],
      ['scripts/billing.ts'],
    ]
    for (const command of commands) {
      const { code, stderr } = await runScript(command, empty.settings)
      assert.equal(code, 1)
      assert.match(stderr, /^There is no database .+app\.db: set MERIDIAN_DATA_DIR/)
    }
    assert.equal(existsSync(join(empty.dataDir, 'app.db')), false)
    empty.remove()
  })
})
