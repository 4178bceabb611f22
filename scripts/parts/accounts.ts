import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findSessionUser } from '../../lib/access/find-session.ts'
import { type AuditEvent, insertAudit } from '../../lib/accounts/audit.ts'
import { recallPlans } from '../../lib/billing/known-plans.ts'
import { type Config, readConfig } from '../../lib/config/config.ts'
import { makeDataDir } from '../../lib/config/data-dir.ts'
import { toEntitlement } from '../../lib/config/entitlement.ts'
import { type Plan, type Plans, readPlans } from '../../lib/config/plans.ts'
import { openSecrets } from '../../lib/config/secrets.ts'
import type { AuditNote } from '../../lib/contract/account/audit-actions.ts'
import { pendingMigrations } from '../../lib/db/database-file.ts'
import { lockDataDir, tryLockDataDir } from '../../lib/db/lock.ts'
import { type Db, openDb, type SqliteDb } from '../../lib/db/open.ts'
import type { Statement } from '../../lib/db/transaction.ts'
import type { OpenDatabase } from './postgres.ts'

const DATABASE = 'app.db'

/** Shared by the commands about users, keys and inquiries. The server may run at the same time. */
export interface Accounts {
  readonly db: Db
  readonly plans: Plans
  /** Epoch milliseconds. */
  readonly now: number
  /** The name of the command for the audit log. */
  readonly command: string
}

/** For commands that need more settings. */
export interface ConfiguredAccounts extends Accounts, Pick<OpenDatabase, 'lock' | 'secrets'> {
  readonly config: Config
}

/**
 * Opens the database, runs `work` and closes the database. `ifMissing`: what to do if the data folder has none.
 */
export async function withAccounts(
  command: string,
  work: (accounts: ConfiguredAccounts) => Promise<void>,
  ifMissing: 'create' | 'refuse' = 'create',
): Promise<void> {
  const config = readConfig(process.env)
  const plans = readPlans(config.plansFile)
  if (ifMissing === 'refuse' && config.postgres === undefined) requireDatabase(config.dataDir)
  await using database = await openDatabase(config)
  const { db, lock, secrets } = database
  await work({
    config,
    db,
    lock,
    secrets,
    plans: await recallPlans(db, plans),
    now: Date.now(),
    command,
  })
}

/** Opens the database that the settings name. The driver of PostgreSQL is loaded only for its own. */
async function openDatabase({ postgres, dataDir }: Config): Promise<OpenDatabase> {
  if (postgres !== undefined) return (await import('./postgres.ts')).openPgDatabase(postgres)
  makeDataDir(dataDir)
  const db = openCurrent(dataDir)
  return {
    db,
    lock: async () => tryLockDataDir(dataDir),
    secrets: async () => openSecrets(dataDir),
    [Symbol.asyncDispose]: async () => {
      db.$client.close()
    },
  }
}

/** Otherwise, a command with the wrong folder would find no accounts, and make an empty database. */
function requireDatabase(dataDir: string): void {
  // Checks a folder that exists.
  if (existsSync(dataDir)) makeDataDir(dataDir)
  const file = join(dataDir, DATABASE)
  if (existsSync(file)) return
  throw new Error(
    `There is no database ${file}: set MERIDIAN_DATA_DIR to the server's data folder, or start the server first`,
  )
}

/** Migrations change what a running server of an older release reads, so they need its lock. */
function openCurrent(dataDir: string): SqliteDb {
  const file = join(dataDir, DATABASE)
  const isOld = existsSync(file) && pendingMigrations(file).length > 0
  using _lock = isOld ? lockDataDir(dataDir) : null
  return openDb(file)
}

/** Returns the statement that records a change to the user's account in the audit log. */
export function audit(accounts: Accounts, userId: string, note: AuditNote): Statement {
  return insertAudit(accounts.db, auditEvent(accounts, userId, note))
}

/** The audit event of a change to the user's account. */
export function auditEvent(
  { now, command }: Accounts,
  userId: string,
  note: AuditNote,
): AuditEvent {
  return { app: 'cli', actorId: userId, actorLabel: command, createdAt: now, ...note }
}

/** The plan that the user pays for, or else the assigned plan. */
export async function planInEffect({ db, plans }: Accounts, userId: string): Promise<Plan> {
  const user = await findSessionUser(db, userId)
  return user === null ? plans.free : toEntitlement(user, plans).plan
}
