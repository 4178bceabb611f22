import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { backupName, removeOldBackups } from '../lib/backup/backup-folder.ts'
import { createBackup, writeBackup } from '../lib/backup/create-backup.ts'
import { DATABASE } from '../lib/backup/manifest.ts'
import { type PostgresConfig, readConfig } from '../lib/config/config.ts'
import { writeSecrets } from '../lib/config/secrets.ts'
import { usageText } from '../lib/parts/clone-or-package.ts'
import { exportDatabase } from '../lib/storage/move/export-database.ts'
import { readGeoFiles } from './parts/geo-files.ts'
import { checkOptions, readArguments, TEXT } from './parts/options.ts'
import { report, run } from './parts/run.ts'

const USAGE = `Usage: ${usageText('backup', '[options]')}
Writes the database and the secrets to one archive, checks it, and prints its path. The server may
keep running. The archive contains the secrets: keep it where only you can read it.
  --out FILE.tar.gz  default: a name with the time, in MERIDIAN_BACKUP_DIR
  --keep N           then remove archives with default names from that folder but the latest N`

const BackupOptions = v.strictObject({
  out: v.optional(v.pipe(v.string(), v.endsWith('.tar.gz', 'must end with .tar.gz'))),
  keep: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[1-9]\d{0,4}$/, 'must be a whole number from 1 to 99999'),
      v.toNumber(),
    ),
  ),
})

await run(async () => {
  const { values } = readArguments({ options: { out: TEXT, keep: TEXT } }, USAGE)
  const { out, keep } = checkOptions(BackupOptions, values, USAGE)
  const config = readConfig(process.env)
  const now = Date.now()
  const path = out ?? join(config.backupDir, backupName(now))
  const files = await readGeoFiles(config)
  for (const file of files)
    if ('problem' in file && !file.isAwaited) report(`Warning: ${file.problem}`)
  const geo = files.flatMap((file) => ('problem' in file ? [] : [file]))
  const { postgres, dataDir } = config
  if (postgres === undefined) await createBackup({ dataDir, path, now, geo })
  else await backUpPostgres(postgres, { path, now, geo })
  process.stdout.write(`${path}\n`)
  if (keep === undefined) return
  const removed = await removeOldBackups(dirname(path), keep)
  for (const old of removed) report(`Removed ${old.path}`)
})

async function backUpPostgres(
  config: PostgresConfig,
  options: Parameters<typeof writeBackup>[0],
): Promise<void> {
  const { connect } = await import('./parts/postgres.ts')
  await using pool = await connect(config)
  await writeBackup(options, async (folder) => {
    const secrets = await exportDatabase({
      pool,
      file: join(folder, DATABASE),
      nodes: 'may run',
      password: config.secret,
      onRows: () => {},
      onTable: () => {},
    })
    writeSecrets(folder, secrets)
  })
}
