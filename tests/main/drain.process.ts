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
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'first', '--plan', 'pro']
  key = (await runScript(args, settings)).stdout.trim()
})

const startDraining = async (seconds: number, signals: readonly NodeJS.Signals[] = ['SIGTERM']) => {
  const more = { MERIDIAN_DRAIN_SECONDS: String(seconds), MERIDIAN_ADMIN_PORT: '0' }
  const server = await startServer({ ...settings, ...more })
  assert.equal(await statusOf(`${server.url}/health/ready`), 200)
  const began = performance.now()
  for (const signal of signals) process.kill(server.pid, signal)
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
  it('answers new connections until the time is over', async () => {
    const draining = await startDraining(8)
    for (let isOver = false; !isOver; await sleep(150)) {
      const answer = await statusOf(`${draining.server.url}/v1/ip/81.2.69.160`).catch(() => null)
      isOver = answer === null
      assert.ok(isOver || answer === 200, `${answer}`)
    }
    const seconds = await waitForStop(draining)
    assert.ok(seconds >= 8, `stopped after ${seconds} s`)
  })

  it('reports that it is degraded, and stops normally at a second signal', async () => {
    // Signals that arrive within a second count once.
    const draining = await startDraining(300, ['SIGTERM', 'SIGINT'])
    const { url } = draining.server
    const health = await fetch(`${url}/health`)
    assert.equal(health.status, 503)
    const { status, checks } = v.parse(HealthStatus, await health.json())
    // A busy disk may delay the write of the check.
    assert.deepEqual([status, checks.geolocation], ['degraded', true])
    const admin = /^Operators +(http:.+)\/metrics$/m.exec(draining.server.output())?.[1]
    assert.equal(await statusOf(`${admin}/readyz`), 503)
    assert.equal(await statusOf(`${admin}/livez`), 200)
    await sleep(NEXT_SIGNAL_MS)
    assert.equal(await statusOf(`${url}/v1`), 200)
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
