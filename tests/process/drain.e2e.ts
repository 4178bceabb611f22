import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { HealthStatus } from '../../lib/contract/system.ts'
import { newDataFolder, type Running, runScript, startServer } from '../support/process.ts'
import { openConnection } from '../support/raw-connection.ts'

/** Longer than the time within which two signals count as one. */
const NEXT_SIGNAL_MS = 1_200

const { settings, remove } = newDataFolder()
after(remove)

let key: string
before(async () => {
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first']
  key = (await runScript(args, settings)).stdout.trim()
})

const startDraining = async (seconds: number) => {
  const more = { MERIDIAN_DRAIN_SECONDS: String(seconds), MERIDIAN_ADMIN_PORT: '0' }
  const server = await startServer({ ...settings, ...more })
  assert.equal(await statusOf(`${server.url}/health/ready`), 200)
  const began = performance.now()
  process.kill(server.pid, 'SIGTERM')
  while ((await statusOf(`${server.url}/health/ready`)) === 200);
  return { server, began }
}

/** The status of an answer on a connection of its own. */
async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url, { headers: { 'x-api-key': key, connection: 'close' } })
  await answer.text()
  return answer.status
}

/** Asserts that the server has ended normally, and returns the seconds that it took. */
async function waitForStop({ server, began }: { server: Running; began: number }) {
  const { code, stdout, stderr } = await server.ended
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /"msg":"stopped"\}\n/)
  return (performance.now() - began) / 1_000
}

describe('a server with MERIDIAN_DRAIN_SECONDS', () => {
  it('answers new connections, and reports that it is degraded, until the time is over', async () => {
    const draining = await startDraining(8)
    const { url } = draining.server
    const health = await fetch(`${url}/health`)
    assert.equal(health.status, 503)
    const { status, checks } = v.parse(HealthStatus, await health.json())
    assert.deepEqual([status, checks], ['degraded', { geolocation: true, database: true }])
    const admin = /^Operators +(http:.+)\/metrics$/m.exec(draining.server.output())?.[1]
    assert.equal(await statusOf(`${admin}/readyz`), 503)
    assert.equal(await statusOf(`${admin}/livez`), 200)
    for (let asked = 0; asked < 10; asked++) {
      assert.equal(await statusOf(`${url}/v1/ip/81.2.69.160`), 200)
      await sleep(150)
    }
    const seconds = await waitForStop(draining)
    assert.ok(seconds >= 8, `stopped after ${seconds} s`)
  })

  it('stops normally at a second signal', async () => {
    const draining = await startDraining(300)
    process.kill(draining.server.pid, 'SIGINT')
    await sleep(NEXT_SIGNAL_MS)
    assert.equal(
      await statusOf(`${draining.server.url}/v1`),
      200,
      'a copy of the signal counts once',
    )
    process.kill(draining.server.pid, 'SIGTERM')
    await waitForStop(draining)
  })
})

describe('a server without MERIDIAN_DRAIN_SECONDS', () => {
  it('ends at once at a signal during the stop', async () => {
    const server = await startServer(settings)
    const { socket, ended } = await openConnection(server.url)
    socket.write('POST /v1/contact HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf')
    await fetch(`${server.url}/v1`, { headers: { connection: 'close' } })
    process.kill(server.pid, 'SIGTERM')
    while (!server.output().includes('"msg":"stopping"')) await sleep(50)
    await sleep(NEXT_SIGNAL_MS)
    const { code, stdout } = await server.stop('SIGTERM')
    assert.equal(code, 1)
    assert.doesNotMatch(stdout, /"msg":"stopped"/)
    await ended
  })
})
