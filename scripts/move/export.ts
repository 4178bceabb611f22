import { usageText } from '../../lib/parts/clone-or-package.ts'
import { exportDatabase } from '../../lib/storage/move/export-database.ts'
import { writeTarget } from '../../lib/storage/move/target.ts'
import { FLAG, readArguments, TEXT } from '../parts/options.ts'
import { connect } from '../parts/postgres.ts'
import { run, UsageError } from '../parts/run.ts'
import { readPostgres } from './read-postgres.ts'
import { watchMove } from './watch-move.ts'

const USAGE = `Usage: ${usageText('export', '--to app.db [--from URL]')}
Copies a database of PostgreSQL to a new database file, with secrets.json beside it, and compares all
rows. Stop all servers first. If it is interrupted, run it again.
  --to app.db  the file to write; a server uses app.db in its data folder
  --from URL   postgres://user:password@host/database; better: MERIDIAN_DATABASE_URL, because other
               users of this machine can see command lines
  --json       print the tables with their rows as JSON`

await run(async () => {
  const { values } = readArguments({ options: { to: TEXT, from: TEXT, json: FLAG } }, USAGE)
  const { to, from } = values
  if (to === undefined) throw new UsageError('--to is missing', USAGE)
  const { postgres } = readPostgres({ name: '--from', url: from }, USAGE)
  using watch = watchMove(values.json === true ? 'json' : 'lines')
  await using pool = await connect(postgres)
  const options = { pool, password: postgres.secret, nodes: 'must have stopped', ...watch } as const
  await writeTarget(to, (file) => exportDatabase({ file, ...options }))
  watch.finish('Exported')
})
