import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { cases } from './cases/cases.ts'
import { readTestKey } from './key.ts'
import { DAY, openSandbox, type Sandbox } from './sandbox.ts'

/*
 * The same cases against Stripe itself: STRIPE_TEST_KEY=… npm run test:stripe. See docs/billing.md.
 */

const key = readTestKey(process.env['STRIPE_TEST_KEY'])
const skip = key === null && 'STRIPE_TEST_KEY is not set, so nothing was compared with Stripe'

/** Stripe allows 25 calls a second in a sandbox. */
const AT_ONCE = 4
const CASE_LIMIT_MS = 600_000

/** Whole periods then lie in the past, within the 35 days for which meters take events. */
const start = Math.floor(Date.now() / 1000) - 34 * DAY

describe('Stripe agrees:', { skip, concurrency: AT_ONCE }, () => {
  let sandbox: Sandbox | undefined
  before(async () => {
    sandbox = await openSandbox({ key: key ?? '', start, pauseMs: 1_000 })
  })
  after(() => sandbox?.[Symbol.asyncDispose]())
  for (const { title, source, run } of cases) {
    it(`${title} (${source})`, { timeout: CASE_LIMIT_MS }, async () => {
      assert.ok(sandbox)
      await using bench = await sandbox.openBench()
      await run(bench)
    })
  }
})
