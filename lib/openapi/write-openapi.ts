import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/**
 * Returns the OpenAPI document as JSON. A thread of its own makes it, since that takes a tenth of a
 * second, for which requests would have to wait.
 */
export async function writeOpenApi(baseUrl: string): Promise<string> {
  const url = new URL('./openapi-thread.ts', import.meta.url)
  const worker = new Worker(url, { name: 'openapi', workerData: baseUrl, execArgv: [] })
  const [json] = await once(worker, 'message')
  return json
}
