import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { mmdbBytes } from '../support/geo-files.ts'
import { newDataFolder, type Running, runScript, startServer } from '../support/process.ts'
import { runWithInput } from './run-locate.ts'

const { dataDir, settings, remove } = newDataFolder()
const anonymous = join(dataDir, 'anonymous.mmdb')
const vpn = { '81.2.69.0/24': { is_anonymous: true, is_anonymous_vpn: true } }
writeFileSync(anonymous, mmdbBytes(vpn, { databaseType: 'GeoIP-Anonymous-Plus' }))
const here = { ...settings, MERIDIAN_GEO: `${settings.MERIDIAN_GEO},${anonymous}` }
const { PATH } = process.env

let server: Running
let key: string
before(async () => {
  server = await startServer(here)
  const args = ['scripts/key.ts', '--email', 'you@example.com', '--name', 'first']
  key = (await runScript(args, here)).stdout.trim()
})
after(async () => {
  await server.stop('SIGTERM')
  remove()
})

const ADDRESSES = '81.2.69.160\n 2A00:1450:4009::1\r\nnö\n10.0.0.1\n16.0.0.1\n5.0.0.1\n8.8.8.8\n'
const LIST = 'who,ip\nAda,81.2.69.160\nJo,"8.8.8.8, 5.0.0.1"\nEve,none\nAda,81.2.69.161\n'

const BLOCKS =
  '81.2.69.0/24\n81.2.68.0 - 81.2.70.9\n8.8.8.8\n2a00:1450:4009::/48\n5.0.0.0/8\n16.0.0.0/32\n10.0.0.0/8\n'

describe('a list that a server looks up', () => {
  for (const [name, args, input] of [
    ['locate', [], ADDRESSES],
    ['locate', ['--include', 'network,privacy', '--lang', 'de'], ADDRESSES],
    ['locate', ['--csv', '--include', 'privacy'], ADDRESSES],
    ['locate', [], BLOCKS],
    ['locate', ['--expand', '--include', 'network,privacy'], BLOCKS],
    ['locate', ['--keep', '--lang', 'de'], LIST],
    ['summarize', ['--json'], LIST],
  ] as const) {
    it(`has the results of the databases here: ${name} ${args.join(' ')}`, async () => {
      const run = (env: NodeJS.ProcessEnv) =>
        runWithInput([`scripts/address-lists/${name}.ts`, ...args], input, { PATH, ...env })
      const asked = { MERIDIAN_URL: `${server.url}/`, MERIDIAN_KEY: key }
      const [own, remote] = await Promise.all([run(here), run(asked)])
      assert.deepEqual([own.code, remote.code], [0, 0], remote.stderr)
      assert.ok(own.stdout.split('\n').length > 5, own.stdout)
      assert.equal(remote.stdout, own.stdout)
    })
  }

  it('is refused with the reason if the key is wrong, which is not shown', async () => {
    const args = ['scripts/address-lists/summarize.ts', '--url', server.url, '--key', `${key}x`]
    const { code, stdout, stderr } = await runWithInput(args, LIST, { PATH })
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, / answers 401: .*; set MERIDIAN_KEY to one of its API keys\n$/)
    assert.ok(!stderr.includes(key), stderr)
  })
})

describe('the settings of clients', () => {
  it('do not hinder other commands', async () => {
    const env = { ...here, MERIDIAN_URL: 'https://geo.example', MERIDIAN_KEY: 'x' }
    const { code, stderr } = await runScript(['scripts/user.ts', '--list'], env)
    assert.equal(code, 0, stderr)
  })
})
