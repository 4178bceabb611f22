import { createOpenApi } from '../lib/openapi/openapi.ts'
import { run } from './parts/run.ts'

const BASE_URL = 'http://127.0.0.1:8787'

/** Prints the OpenAPI document; the only argument is its base URL. */
await run(async () => {
  const [baseUrl = BASE_URL] = process.argv.slice(2)
  process.stdout.write(`${JSON.stringify(createOpenApi(baseUrl), null, 2)}\n`)
})
