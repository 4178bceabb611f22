import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import * as v from 'valibot'
import { Site } from '../../lib/contract/account/account-schemas.ts'
import { SiteProof } from '../../lib/contract/account/site-proof.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { addKey, newDataFolder, startServer } from '../support/process.ts'

const { settings, remove } = newDataFolder()
after(remove)

describe('A server, asked to check the proof of a site,', () => {
  it('asks the configured DNS server', async () => {
    await using dns = await startDnsServer()
    const server = await startServer({ ...settings, MERIDIAN_DNS_SERVERS: dns.address })
    try {
      const key = await addKey(settings, undefined, '--scopes', 'all')
      const headers = { 'x-api-key': key, 'content-type': 'application/json' }
      const post = async (path: string, body: object = {}) => {
        const url = `${server.url}/v1/account/me/sites${path}`
        return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      }
      const created = await post('', { name: 'https://shop.example' })
      const { id } = v.parse(Site, await created.json())
      const state = async () => v.parse(SiteProof, await (await post(`/${id}/proof`)).json()).state
      assert.equal(await state(), 'unproven')
      dns.zone.set('shop.example', 'silent')
      assert.equal((await post(`/${id}/proof`)).status, 503)
      dns.zone.set('shop.example', [`meridian-site=${id}`])
      assert.equal(await state(), 'proven')
    } finally {
      await server.stop('SIGTERM')
    }
  })
})
