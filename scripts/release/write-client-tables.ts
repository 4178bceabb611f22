import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../parts/run.ts'
import { CLIENT_TABLES } from './client-tables.ts'

await run(async () => {
  for (const [path, text] of Object.entries(CLIENT_TABLES)) writeFileSync(join('sdk', path), text)
})
