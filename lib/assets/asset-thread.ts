import { parentPort, workerData } from 'node:worker_threads'
import { toAsset } from './asset.ts'
import { SOURCES, type SourceName } from './sources.ts'

/** Makes one asset, and moves it to the thread that started this one. */
async function make(name: SourceName): Promise<void> {
  const asset = await toAsset(await SOURCES[name]())
  parentPort?.postMessage(asset, [asset.bytes.buffer, asset.gzipped.buffer])
}

if (parentPort !== null) await make(workerData)
