import { readArguments } from '../parts/options.ts'
import { report, run } from '../parts/run.ts'
import { serveKit } from './serve-kit.ts'

const USAGE = `Usage: npm run kit
Serves a page with every part of the pages, to look at while you change one. Only this command has it.`

const PORT = 8788

await run(async () => {
  readArguments({}, USAGE)
  report((await serveKit(PORT)).url)
})
