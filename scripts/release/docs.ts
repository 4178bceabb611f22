import { readFileSync, writeFileSync } from 'node:fs'
import { readArguments } from '../parts/options.ts'
import { run } from '../parts/run.ts'
import { GENERATED_PARTS, withPart } from './generated-parts.ts'

const USAGE = `Usage: npm run docs
Writes the parts of docs/ that follow from code: the tables of settings and plans, the list of events.`

await run(async () => {
  readArguments({}, USAGE)
  for (const [path, makePart] of Object.entries(GENERATED_PARTS)) {
    writeFileSync(path, withPart(readFileSync(path, 'utf8'), makePart()))
  }
})
