import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { hashKey } from '../../../lib/access/api-key.ts'
import { desc } from '../../../lib/db/drizzle.ts'
import { openDb } from '../../../lib/db/open.ts'
import { apiKeys, auditLog, users } from '../../../lib/db/tables.ts'
import { newDataFolder, runScript } from '../../support/process.ts'
import { words } from '../../support/words.ts'

const { dataDir, settings, remove } = newDataFolder()
after(remove)

const makeKey = (...options: string[]) => runScript(['scripts/key.ts', ...options], settings)
const file = join(dataDir, 'app.db')

async function stored(text: string) {
  const db = openDb(file)
  const keys = await db.select().from(apiKeys).all()
  const key = keys.find(({ hash }) => hash === hashKey(text.trim()))
  const all = await db.select().from(users).all()
  const user = all.find(({ id }) => id === key?.userId)
  const actions = await db.select().from(auditLog).orderBy(desc(auditLog.id)).all()
  db.$client.close()
  return { key, user, actions }
}

describe('npm run key', () => {
  it('stores the hash of the key and writes to the audit log', async () => {
    const { stdout } = await makeKey('--email', 'Ada@example.com', '--name', 'first')
    const { key, user, actions } = await stored(stdout)
    assert.deepEqual([user?.email, user?.plan], ['ada@example.com', 'unlimited'])
    assert.deepEqual([key?.name, key?.type, key?.scopes], ['first', 'secret', ['geo:read']])
    assert.ok(key?.expiresAt)
    const logged = actions.map(({ app, action, targetId }) => `${app} ${action} ${targetId}`)
    assert.deepEqual(logged, [`cli create_key ${key?.id}`, 'cli create_user null'])
    assert.equal(JSON.stringify(actions).includes(stdout.trim()), false)
  })

  it('refuses more keys than the plan allows, and creates more with another plan', async () => {
    const ada = ['--email', 'ada@example.com', '--name', 'more']
    assert.equal((await makeKey(...ada)).code, 0)
    const third = await makeKey(...ada, '--plan', 'free')
    assert.deepEqual([third.code, third.stdout], [1, ''])
    assert.match(
      third.stderr,
      /^ada@example\.com has the 2 keys that the plan free allows[^\n]+\n$/,
    )
    const paid = await makeKey(...ada, '--plan', 'pro')
    assert.equal(paid.code, 0)
    const { key, user, actions } = await stored(paid.stdout)
    assert.deepEqual([user?.plan, key?.expiresAt], ['pro', null])
    assert.equal(actions[1]?.action, 'change_plan')
  })

  it('keeps the limit if several run at once', async () => {
    const bob = ['--email', 'bob@example.com', '--name', 'many', '--plan', 'free']
    const ended = await Promise.all([1, 2, 3, 4].map(() => makeKey(...bob)))
    assert.deepEqual(ended.map(({ code }) => code).toSorted(), [0, 0, 1, 1])
    const made = ended.filter(({ code }) => code === 0)
    const found = await Array.fromAsync(made, ({ stdout }) => stored(stdout))
    assert.equal(new Set(found.map(({ user }) => user?.id)).size, 1, 'all keys belong to one user')
  })

  it('creates a publishable key with its origins', async () => {
    const { stdout } = await makeKey(
      ...['--email', 'web@example.com', '--name', 'web', '--type', 'publishable'],
      ...['--origins', 'HTTPS://App.example.com:443, https://*.example.com'],
    )
    assert.match(stdout, /^pk_live_/)
    const { key } = await stored(stdout)
    assert.deepEqual(key?.scopes, ['geo:read'])
    assert.deepEqual(key?.allowedOrigins, ['https://app.example.com', 'https://*.example.com'])
  })

  it('makes a key for everything only if asked to', async () => {
    const options = ['--email', 's@example.com', '--name', 'all', '--scopes', 'all']
    const { stdout, stderr } = await makeKey(...options)
    assert.match(stderr, /, full access\. It is shown only now:\n/)
    assert.deepEqual((await stored(stdout)).key?.scopes, null)
  })

  it('accepts location:read as geo:read', async () => {
    const options = ['--email', 's@example.com', '--name', 's']
    const { stdout } = await makeKey(...options, '--scopes', 'account:read,location:read')
    assert.deepEqual((await stored(stdout)).key?.scopes, ['geo:read', 'account:read'])
  })

  const eve = '--email eve@example.com'
  const named = `${eve} --name x`
  const bad: readonly (readonly [string | readonly string[], RegExp])[] = [
    ['--email eve --name x', /^--email must be an e-mail address/],
    [`${eve} --name ${'x'.repeat(101)}`, /^--name must have at most 100/],
    [`${named} --plan gold`, /^--plan must be one of free, starter, pro, unlimited, got "gold"/],
    [`${named} --scopes geo:write`, /^--scopes.* must be all, or some of geo:read/],
    [`${named} --scopes all,geo:read`, /^--scopes.* must be all, or some of geo:read/],
    [`${named} --type publishable`, /^--origins is missing/],
    [
      `${named} --type publishable --origins https://a.example --scopes all`,
      /can only be geo:read/,
    ],
    [`${named} --type publishable --origins https://*.com`, /^--origins.* must be origins/],
    [`${named} --origins https://a.example`, /^--origins is for publishable keys/],
    [`${named} --unknown`, /Unknown option/],
    [[...words(eve), '--name', ' '], /^--name must not be empty/],
    [`${named} --list`, /^--name cannot be used together with --list/],
    [`--list ${eve}`, /^There is no user eve@example\.com\n$/],
    [`--list ${eve} --renew a`, /^Use only one of --list, --revoke/],
    ['--list', /^--email is missing/],
    [`${named} --json`, /^--json needs --list/],
    [[...words(eve), '--revoke', ''], /^--revoke must be at least 8 characters of the id/],
    [`${eve} --renew sk_live_`, /^--renew must be at least 8 characters of the id/],
  ]
  it('refuses bad options, and creates nothing', async () => {
    await Promise.all(
      bad.map(async ([options, message]) => {
        const given = typeof options === 'string' ? words(options) : options
        const { code, stdout, stderr } = await makeKey(...given)
        assert.deepEqual([code, stdout], [stderr.includes('\n\nUsage: ') ? 2 : 1, ''])
        assert.match(stderr, message)
      }),
    )
    const db = openDb(file)
    const emails = (await db.select().from(users).all()).map(({ email }) => email)
    db.$client.close()
    assert.equal(emails.includes('eve@example.com'), false)
  })
})
