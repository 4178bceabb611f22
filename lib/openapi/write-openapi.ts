import { runThread } from '../process/run-thread.ts'

/**
 * Returns the OpenAPI document as JSON. A thread of its own makes it, since that takes a tenth of a
 * second, for which requests would have to wait.
 */
export function writeOpenApi(baseUrl: string): Promise<string> {
  const url = new URL('./openapi-thread.ts', import.meta.url)
  return runThread(url, { name: 'openapi', workerData: baseUrl })
}
