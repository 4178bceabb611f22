import { createOpenApi } from '../lib/openapi/openapi.ts'
import { usageText } from '../lib/parts/clone-or-package.ts'
import { runInSlices } from '../lib/parts/time-slices.ts'
import { jsonText } from './parts/json-text.ts'
import { readArguments } from './parts/options.ts'
import { run } from './parts/run.ts'

const BASE_URL = 'http://127.0.0.1:8787'

const USAGE = `Usage: ${usageText('openapi', '[URL]')}
Prints the OpenAPI document of a service at this base URL; default: ${BASE_URL}`

await run(async () => {
  const { positionals } = readArguments({ allowPositionals: true }, USAGE)
  const [baseUrl = BASE_URL] = positionals
  process.stdout.write(jsonText(await runInSlices(createOpenApi(baseUrl))))
})
