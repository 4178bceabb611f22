import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { withWorkFolder } from '../lib/backup/work-folder.ts'
import { type PostgresConfig, readConfig } from '../lib/config/config.ts'
import { makeDataDir } from '../lib/config/data-dir.ts'
import { pendingMigrations, tryMigrations } from '../lib/db/database-file.ts'
import { lockDataDir } from '../lib/db/lock.ts'
import { openDb } from '../lib/db/open.ts'
import { DAY_MS } from '../lib/durations.ts'
import { usageText } from '../lib/own-code.ts'
import { distribute } from '../lib/postgres/citus/distribute.ts'
import type { DistributedTable } from '../lib/postgres/citus/tables.ts'
import { listPendingPg, migratePg } from '../lib/postgres/migrate.ts'
import { FLAG, readArguments } from './parts/options.ts'
import { report, run, UsageError } from './parts/run.ts'

const USAGE = `Usage: ${usageText('migrate', '[--dry-run | --distribute]')}
Brings the schema of the database up to date, as the next start of the server would.
  --dry-run  list the pending migrations and try them on a copy, but not those of PostgreSQL; the
             server may be running
  --distribute  distribute the tables that grow with requests and beacons over the workers of Citus; stop
             all servers first`
const UP_TO_DATE = 'The database is up to date'
const ONLY_POSTGRES = '--distribute is for PostgreSQL with Citus: set MERIDIAN_DATABASE_URL'

await run(async () => {
  const { values } = readArguments({ options: { 'dry-run': FLAG, distribute: FLAG } }, USAGE)
  const { dataDir, postgres } = readConfig(process.env)
  if (values.distribute) {
    if (values['dry-run']) throw new UsageError('--distribute cannot be tried', USAGE)
    if (postgres === undefined) throw new Error(ONLY_POSTGRES)
    return distributeTables(postgres)
  }
  if (postgres !== undefined) return migratePostgres(postgres, values['dry-run'] === true)
  const file = join(dataDir, 'app.db')
  if (values['dry-run']) await tryOnCopy(file, dataDir)
  else migrate(file, dataDir)
})

async function tryOnCopy(file: string, dataDir: string): Promise<void> {
  if (!existsSync(file)) throw new Error(`There is no database ${file}: the first start creates it`)
  const pending = await withWorkFolder(dataDir, async (folder) =>
    tryMigrations(file, join(folder, 'app.db')),
  )
  for (const name of pending) process.stdout.write(`${name}\n`)
  if (pending.length === 0) report(UP_TO_DATE)
  else report(`${pending.length} to apply; they work on a copy of the database`)
}

async function migratePostgres(config: PostgresConfig, isDryRun: boolean): Promise<void> {
  const { connect } = await import('./parts/postgres.ts')
  await using pool = await connect(config)
  if (!isDryRun) {
    reportApplied(await migratePg(pool))
    return
  }
  const pending = await listPendingPg(pool)
  for (const name of pending) process.stdout.write(`${name}\n`)
  report(pending.length === 0 ? UP_TO_DATE : `${pending.length} to apply; they were not tried`)
}

/** Copying all rows of a table to the workers is one statement. */
async function distributeTables(config: PostgresConfig): Promise<void> {
  const { connect } = await import('./parts/postgres.ts')
  await using pool = await connect(config, { statementMs: DAY_MS })
  const onTable = ({ name, column }: DistributedTable, rows: number) =>
    process.stdout.write(`${name} by ${column}, ${rows} rows\n`)
  const count = await distribute({ pool, onTable })
  report(count === 0 ? 'All tables were distributed before' : `Distributed ${count} tables`)
}

function migrate(file: string, dataDir: string): void {
  makeDataDir(dataDir)
  using _lock = lockDataDir(dataDir)
  const pending = existsSync(file) ? pendingMigrations(file) : undefined
  openDb(file).$client.close()
  if (pending === undefined) report(`Created the database ${file}`)
  else reportApplied(pending)
}

function reportApplied(names: readonly string[]): void {
  report(names.length === 0 ? UP_TO_DATE : `Applied ${names.join(', ')}`)
}
