import { runThread } from '../process/run-thread.ts'
import type { Asset } from './asset.ts'
import type { SourceName } from './sources.ts'

/** Settles when the last asset so far has been made. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Makes an asset in a thread of its own, since that takes long: it would keep requests waiting. One after
 * the other, for the sake of memory.
 */
export function makeAsset(name: SourceName): Promise<Asset> {
  const making = last.then(() => makeInThread(name))
  last = making.catch(() => {})
  return making
}

function makeInThread(name: SourceName): Promise<Asset> {
  const url = new URL('./asset-thread.ts', import.meta.url)
  return runThread(url, { name: 'asset', workerData: name })
}
