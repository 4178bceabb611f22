import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { newDataFolder, waitForUrl } from '../../support/process.ts'
import { inherited, RUNTIME } from '../../support/runtime.ts'

const { settings, remove } = newDataFolder()
after(remove)

const WARNING = /"level":40,.*"limit":256,"needed":(\d+),"msg":"the limit on open files is too low/

/** Starts a server that may open 256 files. */
async function startWith(connections: string) {
  const more = { PORT: '0', MERIDIAN_GEO_ATLAS: '0', MERIDIAN_MAX_CONNECTIONS: connections }
  const env = { ...inherited(), ...settings, ...more }
  const command = `ulimit -n 256; exec ${RUNTIME.join(' ')} server.ts`
  return waitForUrl(spawn('sh', ['-c', command], { env }))
}

describe('the limit on open files', () => {
  it('is reported at the start if it is too low for all connections', async () => {
    const server = await startWith('57')
    const { stdout } = await server.stop('SIGTERM')
    assert.equal(WARNING.exec(stdout)?.[1], '257')
  })

  it('is not mentioned if it is enough, and leaves a reserve', async () => {
    const server = await startWith('56')
    const open = readdirSync(`/proc/${server.pid}/fd`).length
    assert.ok(open < 100, `${open} files are open`)
    const { stdout } = await server.stop('SIGTERM')
    assert.doesNotMatch(stdout, /limit on open files/)
  })
})
