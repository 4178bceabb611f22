import { describe, it } from 'node:test'
import { newSecretKey } from '../../../stripe-double/ids.ts'
import { startStripeDouble } from '../../../stripe-double/start-double.ts'
import { recordCalls } from '../../stripe-double/start.ts'
import { cases } from './cases/cases.ts'
import { openSandbox } from './sandbox.ts'

const START_MS = Date.UTC(2026, 0, 15, 12)

describe('the double agrees with the cases for Stripe:', () => {
  for (const { title, source, run } of cases) {
    it(`${title} (${source})`, async () => {
      // A clock that only the case moves.
      await using double = await startStripeDouble({ realNow: () => START_MS })
      double.setDunning({ end: 'unpaid' })
      const start = START_MS / 1000
      const at = { key: newSecretKey(), apiBase: double.url, start, pauseMs: 0 }
      await using sandbox = await openSandbox(at)
      await using bench = await sandbox.openBench()
      await run(bench)
      recordCalls(double.calls())
    })
  }
})
