import { usageText } from '../../lib/parts/clone-or-package.ts'
import { importDatabase } from '../../lib/storage/move/import-database.ts'
import { withSource } from '../../lib/storage/move/source.ts'
import { FLAG, readArguments, TEXT } from '../parts/options.ts'
import { connect } from '../parts/postgres.ts'
import { run, UsageError } from '../parts/run.ts'
import { readPostgres } from './read-postgres.ts'
import { watchMove } from './watch-move.ts'

const USAGE = `Usage: ${usageText('import', '[--to URL] [app.db|FOLDER|FILE.tar.gz]')}
Copies a database file, the one of a folder or that of a backup, with its secrets, to an empty database
of PostgreSQL, and compares all rows. Without a name: that of the data folder. Stop the server first.
If it is interrupted, nothing is imported: run it again. MERIDIAN_SECRET encrypts the secrets there.
  --to URL  postgres://user:password@host/database; better: MERIDIAN_DATABASE_URL, because other users
            of this machine can see command lines
  --json    print the tables with their rows as JSON`

await run(async () => {
  const options = { to: TEXT, json: FLAG }
  const { values, positionals } = readArguments({ options, allowPositionals: true }, USAGE)
  const [path, another] = positionals
  if (another !== undefined) throw new UsageError('Name one database or backup', USAGE)
  const { postgres, dataDir } = readPostgres({ name: '--to', url: values.to }, USAGE)
  using watch = watchMove(values.json === true ? 'json' : 'lines')
  await using pool = await connect(postgres)
  await withSource({ path, dataDir, now: Date.now }, ({ file, secrets }) =>
    importDatabase({ file, secrets, pool, password: postgres.secret, ...watch }),
  )
  watch.finish('Imported')
})
