import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { withWorkFolder } from '../lib/backup/work-folder.ts'
import { type PostgresConfig, readConfig } from '../lib/config/config.ts'
import { makeDataDir } from '../lib/config/data-dir.ts'
import { pendingMigrations, tryMigrations } from '../lib/db/database-file.ts'
import { lockDataDir } from '../lib/db/lock.ts'
import { openDb } from '../lib/db/open.ts'
import { usageText } from '../lib/parts/clone-or-package.ts'
import { listPendingPg, migratePg } from '../lib/postgres/migrate.ts'
import { FLAG, readArguments } from './parts/options.ts'
import { report, run } from './parts/run.ts'

const USAGE = `Usage: ${usageText('migrate', '[--dry-run]')}
Brings the schema of the database up to date, as the next start of the server would.
  --dry-run  list the pending migrations and try them on a copy, but not those of PostgreSQL; the
             server may be running`
const UP_TO_DATE = 'The database is up to date'

await run(async () => {
  const { values } = readArguments({ options: { 'dry-run': FLAG } }, USAGE)
  const { dataDir, postgres } = readConfig(process.env)
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
