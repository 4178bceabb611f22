import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { backupName, removeOldBackups } from '../lib/backup/backup-folder.ts'
import { createBackup } from '../lib/backup/create-backup.ts'
import { readConfig } from '../lib/config.ts'
import { readGeoFiles } from './geo-versions.ts'
import { checkOptions, splitOptions, TEXT } from './options.ts'
import { report, run } from './run.ts'

const USAGE = `Usage: npm run --silent backup -- [options]
Writes the database and the secrets to one archive, checks it, and prints its path. A server may
run meanwhile. Whoever has the archive has the secrets: keep it where only you can read it.
  --out FILE.tar.gz  default: a name with the time, in MERIDIAN_BACKUP_DIR
  --keep N           then remove all but the latest N of the backups with such a name`

const BackupOptions = v.strictObject({
  out: v.optional(v.pipe(v.string(), v.endsWith('.tar.gz', 'must end with .tar.gz'))),
  keep: v.optional(
    v.pipe(v.string(), v.regex(/^[1-9]\d{0,4}$/, 'must be a number from 1'), v.toNumber()),
  ),
})

await run(async () => {
  const values = splitOptions(process.argv.slice(2), { out: TEXT, keep: TEXT }, USAGE)
  const { out, keep } = checkOptions(BackupOptions, values, USAGE)
  const config = readConfig(process.env)
  const now = Date.now()
  const path = out ?? join(config.backupDir, backupName(now))
  const files = await readGeoFiles(config)
  for (const file of files) if ('problem' in file) report(`Warning: ${file.problem}`)
  const geo = files.flatMap((file) => ('problem' in file ? [] : [file]))
  await createBackup({ dataDir: config.dataDir, path, now, geo })
  process.stdout.write(`${path}\n`)
  if (keep === undefined) return
  const removed = await removeOldBackups(dirname(path), keep)
  for (const old of removed) report(`Removed ${old.path}`)
})
