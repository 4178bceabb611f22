import { readFileSync, writeFileSync } from 'node:fs'
import { readArguments } from '../parts/options.ts'
import { run } from '../parts/run.ts'
import { GENERATED_PARTS, withPart } from './generated-parts.ts'
import { iconFile } from './icon-file.ts'

const USAGE = `Usage: npm run docs
Writes the parts of docs/ that follow from code: the tables of settings and plans, the list of events.
Also writes pages/icons.ts, the icons of pages.`

await run(async () => {
  readArguments({}, USAGE)
  for (const [path, makePart] of Object.entries(GENERATED_PARTS)) {
    writeFileSync(path, withPart(readFileSync(path, 'utf8'), makePart()))
  }
  writeFileSync('pages/icons.ts', iconFile())
})
