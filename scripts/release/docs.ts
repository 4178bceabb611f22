import { readFileSync, writeFileSync } from 'node:fs'
import { run } from '../parts/run.ts'
import { GENERATED_PARTS, withPart } from './generated-parts.ts'

/** `npm run docs` writes the parts of documents that follow from code. */
await run(async () => {
  for (const [path, makePart] of Object.entries(GENERATED_PARTS)) {
    writeFileSync(path, withPart(readFileSync(path, 'utf8'), makePart()))
  }
})
