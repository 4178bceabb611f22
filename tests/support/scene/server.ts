import { after, before } from 'node:test'
import { addKey, newDataFolder, type Running, type Settings, startServer } from '../process.ts'
import { standInFor } from './freshly.ts'

/** One server for all tests of the file, with its own data folder. `setUp` runs as soon as it is ready. */
export function sharedServer(more: Settings = {}, setUp?: () => Promise<void>) {
  const { dataDir, settings: own, remove } = newDataFolder()
  const settings = { ...own, ...more }
  let running: Running | undefined
  before(async () => {
    running = await startServer(settings)
    await setUp?.()
  })
  after(async () => {
    await running?.stop('SIGTERM')
    remove()
  })
  return {
    server: standInFor(() => running),
    dataDir,
    settings,
    addKey: (email?: string, ...options: readonly string[]) => addKey(settings, email, ...options),
  }
}
