import { type Asset, toAsset } from './asset.ts'
import { makeSource, type SourceName } from './sources.ts'

/** Settles when the last asset so far has been made. */
let last: Promise<unknown> = Promise.resolve()

/** Makes an asset. Only one is made at a time, to save memory. */
export function makeAsset(name: SourceName): Promise<Asset> {
  const making = last.then(async () => toAsset(await makeSource(name)))
  last = making.catch(() => {})
  return making
}
