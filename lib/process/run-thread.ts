import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Runs a thread that sends one message, its result. Rejects if it fails or ends without one. */
export function runThread<Result>(
  url: URL,
  options: Pick<WorkerOptions, 'name' | 'workerData'>,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>()
  const worker = new Worker(url, { ...options, execArgv: [] })
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', (code) =>
    reject(new Error(`The thread ${options.name} ended with ${code} and without a result`)),
  )
  return promise
}
