import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { readPlans } from '../../lib/config/plans.ts'
import { openDb } from '../../lib/db/open.ts'
import { auditLog } from '../../lib/db/tables.ts'
import { readDemoOptions } from '../../scripts/demo-rum/options.ts'
import { demoSite } from '../../scripts/demo-rum/send-demo.ts'
import type { Accounts } from '../../scripts/parts/accounts.ts'
import { NOON } from '../support/helpers.ts'

const baseUrl = 'http://localhost'
const SHOP = { site: 'https://shop.example', email: 'ada@example.com', baseUrl }

let accounts: Accounts
beforeEach(() => {
  const plans = readPlans(undefined)
  accounts = { db: openDb(':memory:'), plans, now: NOON, command: 'npm run demo:rum' }
})

describe('demoSite', () => {
  it('adds the site and its user once', async () => {
    const made = await demoSite(accounts, SHOP)
    assert.equal(made.name, SHOP.site)
    assert.equal((await demoSite(accounts, SHOP)).id, made.id)
    const rows = await accounts.db.select().from(auditLog).all()
    assert.deepEqual(
      rows.map(({ app, action }) => [app, action]),
      [
        ['cli', 'create_user'],
        ['cli', 'create_site'],
      ],
    )
  })

  it('adds no more sites than the plan allows', async () => {
    await demoSite(accounts, SHOP)
    await assert.rejects(demoSite(accounts, { ...SHOP, site: 'https://other.example' }), {
      message:
        'Cannot add https://other.example: ada@example.com has the 1 sites that the plan free allows',
    })
  })
})

describe('the options of the demo', () => {
  it('require only the site', () => {
    assert.deepEqual(readDemoOptions(['--site', 'https://Shop.example/']), {
      site: 'https://shop.example',
      days: 7,
      views: 2000,
      email: 'demo@example.com',
    })
  })

  for (const [args, message] of [
    [[], /^--site is missing/],
    [['--site', 'shop'], /^--site must be an origin/],
    [['--site', SHOP.site, '--days', '91'], /^--days must be a whole number from 1 to 90/],
    [['--site', SHOP.site, '--days', 'x'], /^--days must be/],
    [['--site', SHOP.site, '--views', '0'], /^--views must be/],
    [['--site', SHOP.site, '--email', 'x'], /^--email must be an e-mail address/],
  ] as const) {
    it(`are refused: ${args.join(' ') || 'none'}`, () => {
      assert.throws(() => readDemoOptions([...args]), { message })
    })
  }
})
