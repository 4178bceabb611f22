import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { readPrometheusText, readValue } from '../parts/metrics/prometheus-text.ts'
import { addKey, newDataFolder, type Running, runScript, startServer } from '../support/process.ts'
import { IS_BUN } from '../support/runtime.ts'

const { settings, remove } = newDataFolder()
after(remove)

const urlOf = (server: Running) => /^Operators +(http:.+)\/metrics$/m.exec(server.output())?.[1]

describe('the admin port of a server', () => {
  it('counts requests to the public port, and closes together with it', async () => {
    const server = await startServer({ ...settings, MERIDIAN_ADMIN_PORT: '0' })
    const admin = urlOf(server)
    assert.ok(admin)
    const headers = { 'x-api-key': await addKey(settings) }
    assert.equal((await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })).status, 200)
    const body = await (await fetch(`${admin}/metrics`)).text()
    const name = 'http_server_request_duration_seconds_count'
    const labels = { http_route: '/v1/ip/{ipAddress}', http_request_method: 'GET' }
    assert.equal(readValue(readPrometheusText(body), name, labels), 1)
    assert.equal((await fetch(`${server.url}/metrics`)).status, 404)

    const profile = (seconds: number) =>
      fetch(`${admin}/profile/cpu?seconds=${seconds}`, { method: 'POST' })
    const long: Promise<Response>[] = []
    // If the short profile is the first to arrive, the long one is refused, and both are tried again.
    do long.push(profile(60))
    while ((await profile(1)).status !== 409)
    const ended = Promise.allSettled(long)
    const { code, stderr } = await server.stop('SIGTERM')
    assert.deepEqual([code, stderr], [0, ''])
    const aborted = (await ended).filter(({ status }) => status === 'rejected')
    assert.equal(aborted.length, 1, 'the running profile is aborted')
    await assert.rejects(fetch(`${admin}/livez`))
  })

  it('makes a heap profile, or answers that its runtime cannot', async () => {
    const server = await startServer({ ...settings, MERIDIAN_ADMIN_PORT: '0' })
    const answer = await fetch(`${urlOf(server)}/profile/heap?seconds=1`, { method: 'POST' })
    assert.equal(answer.status, IS_BUN ? 501 : 200)
    await server.stop('SIGTERM')
  })

  it('is closed unless it is configured', async () => {
    const server = await startServer(settings)
    assert.equal(urlOf(server), undefined)
    await server.stop('SIGTERM')
  })

  it('makes the start fail if it is in use', async () => {
    const server = await startServer(settings)
    const other = newDataFolder()
    const { code, stdout, stderr } = await runScript(['server.ts'], {
      ...other.settings,
      PORT: '0',
      MERIDIAN_ADMIN_PORT: new URL(server.url).port,
    })
    assert.equal(code, 1)
    assert.match(stderr, /^[^\n]*EADDRINUSE[^\n]*set MERIDIAN_ADMIN_PORT\n$/)
    assert.doesNotMatch(stdout, /"level":50/, 'nothing fails after the services are closed')
    await server.stop('SIGTERM')
    other.remove()
  })
})
