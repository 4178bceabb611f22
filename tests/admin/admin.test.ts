import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { operations } from '../../lib/contract/operations.ts'
import { HealthStatus } from '../../lib/contract/system.ts'
import { makeApp } from '../support/helpers.ts'
import { words } from '../support/words.ts'
import { openAdmin, sharedAdmin } from './admin-port.ts'

let key: string
const { app, admin } = sharedAdmin(async () => {
  key = await app.makeKey()
})

describe('the admin port', () => {
  it('reports that the process is alive, without reading the database', async () => {
    const read = () => assert.fail('livez must not read the health')
    const health = { read, readLookUps: read, drain: () => {} }
    await using dead = await makeApp({ replace: () => ({ health }) })
    using other = await openAdmin(dead.services)
    const answer = await other.ask('/livez')
    assert.deepEqual([answer.status, await answer.text()], [200, 'ok\n'])
  })

  it('reports whether the service is ready, as /health does', async () => {
    const ready = await admin.ask('/readyz')
    assert.equal(ready.status, 200)
    const { body } = await app.send('GET', '/health')
    const here = v.parse(HealthStatus, await ready.json())
    const there = v.parse(HealthStatus, body)
    // A second may have begun in between.
    assert.deepEqual({ ...here, uptime: there.uptime }, there)
    await using draining = await makeApp()
    using other = await openAdmin(draining.services)
    draining.services.health.drain()
    const answer = await other.ask('/readyz')
    assert.equal(answer.status, 503)
    assert.equal(v.parse(HealthStatus, await answer.json()).status, 'degraded')
  })

  it('answers 404 and 405 to everything else', async () => {
    for (const path of words('/ /v1 /health /metrics/ //metrics /METRICS /__proto__')) {
      assert.equal((await admin.ask(path)).status, 404, path)
    }
    for (const [path, method, allow] of [
      ['/metrics', 'POST', 'GET, HEAD'],
      ['/livez', 'DELETE', 'GET, HEAD'],
      ['/profile/cpu', 'GET', 'POST'],
      ['/profile/heap', 'HEAD', 'POST'],
    ] as const) {
      const answer = await admin.ask(path, { method })
      assert.deepEqual([answer.status, answer.headers.get('allow')], [405, allow], path)
    }
    const head = await admin.ask('/metrics', { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
  })

  it('serves no path of the API, and the API none of its paths', async () => {
    for (const path of ['/metrics', '/livez', '/readyz', '/profile/cpu']) {
      assert.equal((await app.send('GET', path)).status, 404, path)
      assert.equal((await app.send('POST', path)).status, 404, path)
    }
    for (const { path } of operations) {
      const at = path.replaceAll(/\{\w+\}/g, 'x')
      assert.equal((await admin.ask(at, { headers: { 'x-api-key': key } })).status, 404, at)
    }
  })

  it('refuses web pages, however they reach it', async () => {
    assert.equal(await statusFor({ origin: 'https://shop.example' }), 403)
    for (const site of ['cross-site', 'same-site', 'x']) {
      assert.equal(await statusFor({ 'sec-fetch-site': site }), 403, site)
    }
    for (const site of ['none', 'same-origin']) {
      assert.equal(await statusFor({ 'sec-fetch-site': site }), 200, site)
    }
    const hosts: Record<string, number> = {
      'rebound.example': 403,
      'rebound.example:9091': 403,
      '127.0.0.1.example': 403,
      'localhost:9091': 200,
      '[::1]:9091': 200,
      '127.0.0.1': 200,
    }
    for (const [host, status] of Object.entries(hosts)) {
      assert.equal(await statusFor({ host }), status, host)
    }
  })

  it('answers health checks in HTTP/1.0, which have no Host', async () => {
    const { hostname, port } = new URL(admin.url)
    const socket = connect(Number(port), hostname)
    socket.write('GET /livez HTTP/1.0\r\n\r\n')
    assert.match(await text(socket), /^HTTP\/1\.1 200 /)
  })

  it('survives requests that are not HTTP', async () => {
    const { hostname, port } = new URL(admin.url)
    for (const line of ['x\u0000', 'GET /% HTTP/1.1\r\nHost: 127.0.0.1', 'GET ? HTTP/1.0']) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.end(`${line}\r\n\r\n`)
      await text(socket).catch(() => '')
    }
    assert.equal((await admin.ask('/livez')).status, 200)
  })
})

describe('a profile', () => {
  it('of the processor shows where time was spent', async () => {
    const answer = await admin.ask('/profile/cpu?seconds=1', { method: 'POST' })
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-disposition') ?? '', /filename="meridian.cpuprofile"/)
    const { nodes, samples, startTime, endTime } = v.parse(CpuProfile, await answer.json())
    const ids = new Set(nodes.map(({ id }) => id))
    assert.ok(samples.length > 0 && samples.every((id) => ids.has(id)))
    assert.ok(endTime > startTime)
  })

  it('of the heap shows which code allocated memory, but not its content', async () => {
    const answer = await admin.ask('/profile/heap?seconds=1', { method: 'POST' })
    assert.equal(answer.status, 200)
    const json = await answer.text()
    assert.equal(v.parse(HeapProfile, JSON.parse(json)).head.callFrame.functionName, '(root)')
    assert.equal(json.includes(key), false)
  })

  it('takes from 1 to 60 seconds', async () => {
    for (const seconds of ['0', '61', '-1', '1.5', 'x', '', '1e1', '999999999999']) {
      const answer = await admin.ask(`/profile/cpu?seconds=${seconds}`, { method: 'POST' })
      assert.equal(answer.status, 400, seconds)
    }
  })

  it('is made one at a time, and ends if the client disconnects', async () => {
    const gone = new AbortController()
    const first = admin.ask('/profile/cpu?seconds=60', { method: 'POST', signal: gone.signal })
    first.catch(() => {})
    await waitUntil(async () => (await profileFor(1, 'heap')) === 409)
    gone.abort()
    await waitUntil(async () => (await profileFor(1, 'heap')) === 200)
  })
})

async function profileFor(seconds: number, kind: string): Promise<number> {
  const answer = await admin.ask(`/profile/${kind}?seconds=${seconds}`, { method: 'POST' })
  await answer.text()
  return answer.status
}

async function waitUntil(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue()));
}

/** Uses node:http, because `fetch` sets these headers itself. */
function statusFor(headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(`${admin.url}/livez`, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
}

const CallFrame = v.object({ functionName: v.string(), url: v.string(), lineNumber: v.number() })
const CpuProfile = v.object({
  nodes: v.array(v.object({ id: v.number(), callFrame: CallFrame })),
  samples: v.array(v.number()),
  timeDeltas: v.array(v.number()),
  startTime: v.number(),
  endTime: v.number(),
})
const HeapProfile = v.object({
  head: v.object({ callFrame: CallFrame, selfSize: v.number(), children: v.array(v.unknown()) }),
})
