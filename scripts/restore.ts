import { parseArgs } from 'node:util'
import { type Restored, restoreBackup } from '../lib/backup/restore-backup.ts'
import { readConfig } from '../lib/config.ts'
import { report, run } from './run.ts'
import { isoDay } from './times.ts'

const USAGE = `Usage: npm run restore -- FILE.tar.gz [--overwrite]
Checks a backup and puts its database and secrets into the data folder. No server may run on it.
  --overwrite  put what the folder holds aside, into a folder in it`

await run(async () => {
  const { archive, overwrite } = readArguments(process.argv.slice(2))
  const { dataDir } = readConfig(process.env)
  const restored = await restoreBackup({ archive, dataDir, overwrite, now: Date.now() })
  tell(archive, dataDir, restored)
})

function readArguments(args: string[]): { archive: string; overwrite: boolean } {
  const flag = { type: 'boolean', default: false } as const
  try {
    const options = { overwrite: flag }
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const [archive, another] = positionals
    if (archive === undefined || another !== undefined) throw new Error('Name one backup')
    return { archive, overwrite: values.overwrite }
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

function tell(archive: string, dataDir: string, { manifest, aside, pending }: Restored): void {
  report(`Restored ${archive} of ${manifest.createdAt}, version ${manifest.version}, to ${dataDir}`)
  if (aside !== undefined) report(`What was there is in ${aside}`)
  if (pending.length > 0) report(`The next start applies ${pending.join(', ')}`)
  const geo = manifest.geo.map(({ name, builtAt }) => `${name} of ${isoDay(Date.parse(builtAt))}`)
  report(`Databases that were served, which are not in the backup: ${geo.join(', ') || 'none'}`)
}
