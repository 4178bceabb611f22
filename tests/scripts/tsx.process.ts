import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newDataFolder, waitForUrl } from '../support/process.ts'
import { IS_PROJECT_NODE, inherited } from '../support/runtime.ts'

/** The program of npx tsx: npx itself would not pass signals on. */
const TSX = fileURLToPath(import.meta.resolve('tsx/cli'))

describe('tsx', { skip: !IS_PROJECT_NODE && 'tsx runs on Node.js' }, () => {
  it('starts the server, with its pages', async () => {
    const { settings, remove } = newDataFolder()
    const env = { ...inherited(), ...settings, PORT: '0', MERIDIAN_GEO_ATLAS: '0' }
    const server = await waitForUrl(spawn(process.execPath, [TSX, 'server.ts'], { env }))
    for (const path of ['/health', '/', '/docs']) {
      assert.equal((await fetch(`${server.url}${path}`)).status, 200, path)
    }
    assert.equal((await server.stop('SIGTERM')).code, 0)
    remove()
  })

  it('runs a test by npx', () => {
    const { PATH = '', ...others } = inherited()
    const env = { ...others, PATH: [dirname(process.execPath), PATH].join(delimiter) }
    // This one needs SQLite and JSX.
    const args = ['tsx', '--test', '--test-reporter=tap', 'tests/pages/home.test.ts']
    const { status, stdout, stderr } = spawnSync('npx', args, { env, encoding: 'utf8' })
    assert.equal(status, 0, `${stdout}${stderr}`)
    assert.match(stdout, /^# pass [1-9]/m)
  })
})
