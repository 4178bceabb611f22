import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { newDataFolder, runScript, type Settings } from '../support/process.ts'

/** Loads what the server loads, opens the services and closes them. */
const OPEN = `
  import { createRequire } from 'node:module'
  import './main/start.ts'
  import { readConfig } from './lib/config/config.ts'
  import { silentLog } from './lib/parts/log/log.ts'
  import { openServices } from './lib/services/services.ts'
  const options = { log: silentLog, now: Date.now, onProgress() {}, listenUrl: () => 'http://127.0.0.1:1' }
  try {
    await (await openServices(readConfig(process.env), options))[Symbol.asyncDispose]()
    console.log('opened')
  } catch (error) {
    console.log(error.message)
  }
  const loaded = Object.keys(createRequire(import.meta.url).cache)
  console.log(loaded.filter((path) => /node_modules.(pg|better-sqlite3)./.test(path)).join())`

async function openWith(more: Settings): Promise<{ readonly result: string; loaded: string }> {
  const { settings, remove } = newDataFolder()
  const args = ['--input-type=module', '--eval', OPEN]
  const { stdout, stderr } = await runScript(args, { ...settings, ...more })
  remove()
  const [result = '', loaded = ''] = stdout.split('\n')
  assert.equal(stderr, '')
  return { result, loaded }
}

describe('the driver of PostgreSQL', () => {
  it('is not loaded with SQLite', async () => {
    const { result, loaded } = await openWith({})
    assert.equal(result, 'opened')
    assert.match(loaded, /better-sqlite3/)
    assert.doesNotMatch(loaded, /node_modules.pg/)
  })

  it('is loaded for MERIDIAN_DATABASE_URL', async () => {
    const port = await findFreePort()
    const postgres = {
      MERIDIAN_DATABASE_URL: `postgres://ada@127.0.0.1:${port}/meridian`,
      MERIDIAN_SECRET: 'x'.repeat(32),
    }
    const { result, loaded } = await openWith(postgres)
    assert.match(result, /PostgreSQL.*ECONNREFUSED/)
    assert.match(loaded, /node_modules.pg/)
  })
})
