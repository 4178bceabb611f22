import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { withWorkFolder } from '../lib/backup/work-folder.ts'
import { readConfig } from '../lib/config.ts'
import { makeDataDir } from '../lib/data-dir.ts'
import { pendingMigrations } from '../lib/db/inspect.ts'
import { lockDataDir } from '../lib/db/lock.ts'
import { openDb } from '../lib/db/open.ts'
import { tryMigrations } from '../lib/db/try-migrations.ts'
import { FLAG, splitOptions } from './options.ts'
import { report, run } from './run.ts'

const USAGE = `Usage: npm run migrate -- [--dry-run]
Brings the schema of the database up to date, as the next start of the server would.
  --dry-run  tell which migrations that would be, and try them on a copy; a server may run`

await run(async () => {
  const values = splitOptions(process.argv.slice(2), { 'dry-run': FLAG }, USAGE)
  const { dataDir } = readConfig(process.env)
  const file = join(dataDir, 'app.db')
  if (values['dry-run']) await rehearse(file, dataDir)
  else migrate(file, dataDir)
})

async function rehearse(file: string, dataDir: string): Promise<void> {
  if (!existsSync(file)) throw new Error(`There is no database ${file}: the first start makes it`)
  const pending = await withWorkFolder(dataDir, async (folder) =>
    tryMigrations(file, join(folder, 'app.db')),
  )
  for (const name of pending) process.stdout.write(`${name}\n`)
  if (pending.length === 0) report('The database is up to date')
  else report(`${pending.length} to apply; they work on a copy of the database`)
}

function migrate(file: string, dataDir: string): void {
  makeDataDir(dataDir)
  using _lock = lockDataDir(dataDir)
  const pending = existsSync(file) ? pendingMigrations(file) : undefined
  openDb(file).$client.close()
  if (pending === undefined) report(`Made the database ${file}`)
  else if (pending.length === 0) report('The database is up to date')
  else report(`Applied ${pending.join(', ')}`)
}
