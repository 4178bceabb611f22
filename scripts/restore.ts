import { restoreBackup } from '../lib/backup/restore-backup.ts'
import { readConfig } from '../lib/config/config.ts'
import { becomeOwner } from '../lib/config/data-dir.ts'
import { commandText, usageText } from '../lib/parts/clone-or-package.ts'
import { FLAG, readArguments } from './parts/options.ts'
import { report, run, UsageError } from './parts/run.ts'
import { isoDay } from './parts/times.ts'

const USAGE = `Usage: ${usageText('restore', 'FILE.tar.gz [--overwrite]')}
Checks a backup and restores its database and secrets to the data folder. Stop the server first.
  --overwrite  move the current files of the data folder into a subfolder`

await run(async () => {
  const config = { options: { overwrite: FLAG }, allowPositionals: true } as const
  const { values, positionals } = readArguments(config, USAGE)
  const [archive, another] = positionals
  if (archive === undefined || another !== undefined) {
    throw new UsageError('Name one backup', USAGE)
  }
  const { dataDir, postgres } = readConfig(process.env)
  if (postgres !== undefined) {
    const importing = commandText('import', archive)
    throw new Error(
      `MERIDIAN_DATABASE_URL is set: ${importing} copies the backup to an empty database`,
    )
  }
  const owner = becomeOwner(dataDir)
  if (owner !== undefined) report(`Running as user ${owner}, the owner of the data folder`)
  const overwrite = values.overwrite === true
  const restored = await restoreBackup({ archive, dataDir, overwrite, now: Date.now() })
  const { manifest, aside, pending } = restored
  report(`Restored ${archive} of ${manifest.createdAt}, version ${manifest.version}, to ${dataDir}`)
  if (aside !== undefined) report(`The previous files are in ${aside}`)
  if (pending.length > 0) report(`The next start applies ${pending.join(', ')}`)
  const geo = manifest.geo.map(({ name, builtAt }) => `${name} of ${isoDay(Date.parse(builtAt))}`)
  report(`Databases that were served, but are not in the backup: ${geo.join(', ') || 'none'}`)
})
