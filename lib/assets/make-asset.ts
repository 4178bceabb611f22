import { createSerialQueue } from '../parts/serial-queue.ts'
import { type Asset, toAsset } from './asset.ts'
import { makeSource, type SourceName } from './sources.ts'

const inSeries = createSerialQueue()

/** Makes an asset. Only one is made at a time, to save memory. */
export function makeAsset(name: SourceName): Promise<Asset> {
  return inSeries(async () => toAsset(await makeSource(name)))
}
