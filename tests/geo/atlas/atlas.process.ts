import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { newDataFolder, runScript, startServer } from '../../support/process.ts'

const { dataDir, settings, remove } = newDataFolder()
after(remove)

const atlases = () => readdirSync(join(dataDir, 'geo')).filter((name) => name.startsWith('atlas-'))

const isCombined = (output: string) => output.includes('databases combined into one index')

it('a server combines its databases into one index while it answers', async () => {
  const { stdout: key } = await runScript(
    ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first'],
    settings,
  )
  const server = await startServer({ ...settings, MERIDIAN_GEO_ATLAS: '1' })
  const locate = async () => {
    const headers = { 'x-api-key': key.trim(), 'x-request-id': crypto.randomUUID() }
    const answer = await fetch(`${server.url}/v1/ip/81.2.69.160?fields=query,location,network`, {
      headers,
    })
    assert.equal(answer.status, 200)
    return answer.text()
  }
  const before = await locate()
  for (let waited = 0; !isCombined(server.output()); waited++) {
    assert.ok(waited < 600, server.output())
    await wait(100)
  }
  assert.equal(atlases().length, 1)
  // The server looks for it every two seconds.
  await wait(2_500)
  assert.equal(await locate(), before)
  const { code } = await server.stop('SIGTERM')
  assert.equal(code, 0)
})

it('a server that is stopped while it combines its databases ends at once', async () => {
  const other = newDataFolder()
  after(other.remove)
  const server = await startServer({ ...other.settings, MERIDIAN_GEO_ATLAS: '1' })
  const { code, stderr } = await server.stop('SIGTERM')
  assert.deepEqual([code, stderr], [0, ''])
})
