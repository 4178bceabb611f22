import { join } from 'node:path'
import { type Change, insertAudit } from '../lib/accounts/audit.ts'
import { readConfig } from '../lib/config.ts'
import { makeDataDir } from '../lib/data-dir.ts'
import { type Db, openDb } from '../lib/db/open.ts'
import type { Statement } from '../lib/db/unit.ts'
import { type Plans, readPlans } from '../lib/plans.ts'

/** What commands on users and keys work with. A server may run meanwhile. */
export interface Accounts {
  readonly db: Db
  readonly plans: Plans
  /** Epoch milliseconds. */
  readonly now: number
  /** The command, as the audit log shall call it. */
  readonly command: string
}

/** Opens the database for the command, and closes it when `work` has ended. */
export async function withAccounts(
  command: string,
  work: (accounts: Accounts) => Promise<void>,
): Promise<void> {
  const config = readConfig(process.env)
  const plans = readPlans(config.plansFile)
  makeDataDir(config.dataDir)
  const db = openDb(join(config.dataDir, 'app.db'))
  try {
    await work({ db, plans, now: Date.now(), command })
  } finally {
    db.$client.close()
  }
}

/** The audit row of a change to what the user has. */
export function audit({ db, now, command }: Accounts, userId: string, change: Change): Statement {
  return insertAudit(db, {
    app: 'cli',
    actorId: userId,
    actorLabel: command,
    createdAt: now,
    ...change,
  })
}
