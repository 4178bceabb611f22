import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFindClient } from '../../lib/access/client-address.ts'
import { createProxyWatch } from '../../lib/access/unknown-proxy.ts'
import { readConfig } from '../../lib/config/config.ts'
import { forgetProxy, recallProxy, rememberProxy } from '../../lib/config/seen-proxy.ts'
import { checkConfig } from '../../lib/doctor/check-config.ts'
import { lines, matches } from '../doctor/findings.ts'
import { makeApp, recordingLog } from '../support/helpers.ts'
import { tempFolder } from '../support/temp-folder.ts'

const HEADER = 'x-forwarded-for'

/** The networks that are named after these requests. */
function namedAfter(requests: readonly (readonly [peer: string, forwarded: string | undefined])[]) {
  const named: string[] = []
  const watch = createProxyWatch(HEADER, ({ network }) => named.push(network))
  const find = createFindClient({ trustedProxies: [], clientHeader: HEADER }, watch.see)
  for (const [peer, forwarded] of requests) {
    const client = find(peer, { header: () => forwarded })
    assert.equal(client?.address.text, peer.replace('::ffff:', ''))
  }
  assert.equal(watch.found()?.network, named[0])
  return named
}

describe('a proxy that is not trusted', () => {
  for (const [peer, network] of [
    ['172.17.0.1', '172.17.0.0/24'],
    ['127.0.0.1', '127.0.0.0/24'],
    ['::ffff:10.0.0.9', '10.0.0.0/24'],
    ['fd00::7', 'fd00::/48'],
  ] as const) {
    it(`is named once: ${peer}`, () => {
      assert.deepEqual(namedAfter(Array(40).fill([peer, '8.8.8.8'])), [network])
    })
  }

  it('is found among requests without the header', () => {
    const mixed = Array.from(
      { length: 64 },
      (_, at) => ['10.0.0.9', at < 5 ? undefined : '8.8.8.8'] as const,
    )
    assert.deepEqual(namedAfter(mixed), ['10.0.0.0/24'])
  })

  it('is not a client on the Internet, or one without the header', () => {
    assert.deepEqual(namedAfter(Array(40).fill(['81.2.69.160', '8.8.8.8'])), [])
    assert.deepEqual(namedAfter(Array(40).fill(['172.17.0.1', undefined])), [])
  })

  it('is named by the doctor until the settings trust it, or the server starts again', () => {
    const dataDir = tempFolder()
    const check = (env: Record<string, string> = {}) =>
      checkConfig(readConfig({ MERIDIAN_DATA_DIR: dataDir, MERIDIAN_SIGN_UP: 'closed', ...env }))
    assert.deepEqual(lines(check()), ['ok'])
    rememberProxy(dataDir, { address: '172.17.0.1', network: '172.17.0.0/24', header: HEADER })
    const named =
      /^warning: A proxy in 172\.17\.0\.0\/24 sends x-forwarded-for.* → .*TRUSTED_PROXIES/
    matches(check(), named)
    matches(check({ MERIDIAN_TRUSTED_PROXIES: '172.17.0.2' }), named)
    assert.deepEqual(lines(check({ MERIDIAN_TRUSTED_PROXIES: '172.17.0.0/16' })), ['ok'])
    assert.deepEqual(lines(check({ MERIDIAN_CLIENT_HEADER: 'Fly-Client-IP' })), ['ok'])
    forgetProxy(dataDir)
    assert.equal(recallProxy(dataDir), null)
    assert.deepEqual(lines(check()), ['ok'])
  })
})

describe('mail without a public address, behind a proxy', () => {
  it('is warned of at the start', async () => {
    const warned = async (env: Record<string, string>) => {
      const log = recordingLog()
      await using _app = await makeApp({
        log,
        env: { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1', ...env },
      })
      return log.events.some(({ message }) => message.includes('but MERIDIAN_BASE_URL is not'))
    }
    const mail = { MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:9' }
    assert.equal(await warned(mail), true)
    assert.equal(await warned({}), false)
    assert.equal(await warned({ ...mail, MERIDIAN_BASE_URL: 'https://geo.example' }), false)
  })
})
