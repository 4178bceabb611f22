import { usageText } from '../../lib/parts/clone-or-package.ts'
import { readArguments, TEXT } from '../parts/options.ts'
import { run, UsageError } from '../parts/run.ts'
import { SERVER_OPTIONS, SERVER_USAGE, toServer } from '../parts/server-options.ts'
import { countLists } from './parts/counts.ts'
import { FORM_OPTIONS, FORM_USAGE, toFormOptions } from './parts/form-options.ts'
import { inputsOf } from './parts/input.ts'
import { writeMap } from './parts/map-page.tsx'
import { openSource } from './parts/open-source.ts'

const USAGE = `Usage: ${usageText('map', '[FILE…] --out FILE.html [options]')}
Writes a page with a map and a summary of the addresses in the files, or in stdin. It needs no other
file. The input may be CSV, TSV, JSON lines or lines of a log; it is recognised by its content.
  --out FILE.html  the page

${FORM_USAGE}
${SERVER_USAGE}`

await run(async () => {
  const options = { out: TEXT, ...FORM_OPTIONS, ...SERVER_OPTIONS }
  const { values, positionals } = readArguments({ options, allowPositionals: true }, USAGE)
  const form = toFormOptions(values, USAGE)
  if (values.out === undefined) throw new UsageError('--out is missing', USAGE)
  using source = await openSource(toServer(values, USAGE), {})
  await writeMap(values.out, await countLists(source, inputsOf(positionals), form))
})
