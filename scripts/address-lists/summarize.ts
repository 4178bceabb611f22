import { usageText } from '../../lib/parts/clone-or-package.ts'
import { FLAG, readArguments } from '../parts/options.ts'
import { run } from '../parts/run.ts'
import { SERVER_OPTIONS, SERVER_USAGE, toServer } from '../parts/server-options.ts'
import { countLists } from './parts/counts.ts'
import { FORM_OPTIONS, FORM_USAGE, toFormOptions } from './parts/form-options.ts'
import { inputsOf } from './parts/input.ts'
import { openSource } from './parts/open-source.ts'
import { printSummary } from './parts/summary-text.ts'

const USAGE = `Usage: ${usageText('summarize', '[options] [FILE…]')}
Counts the rows of the files, or of stdin, by country, region, network, city, precision and, if data
about it is loaded, privacy. The input may be CSV, TSV, JSON lines or lines of a log; it is recognised
by its content.
  --json           print JSON, as POST /v1/ip/summary answers it

${FORM_USAGE}
${SERVER_USAGE}`

await run(async () => {
  const options = { json: FLAG, ...FORM_OPTIONS, ...SERVER_OPTIONS }
  const { values, positionals } = readArguments({ options, allowPositionals: true }, USAGE)
  const form = toFormOptions(values, USAGE)
  using source = await openSource(toServer(values, USAGE), { include: ['privacy'] })
  const { summary } = await countLists(source, inputsOf(positionals), form)
  printSummary(summary, { json: values.json === true })
})
