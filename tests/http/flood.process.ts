import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { widePlansFile } from '../support/plans-file.ts'
import { privateMemory, type Running, runScript } from '../support/process.ts'
import { openConnection } from '../support/raw-connection.ts'
import { sharedServer } from '../support/scene/server.ts'
import { startLoad } from './load.ts'

// run: alone

/*
 * Thousands of connections send nothing, send slowly, or do not read: meanwhile all look-ups of other
 * clients are answered. The flood and the look-ups come from different addresses in 127.0.0.0/8.
 */

const SECONDS = 10
const COUNT = 20_000
const ADDRESSES = 20
const CLIENTS = 4
/** Private memory: 10,000 connections, with uncollected garbage, took up to 464 MB. */
const MAX_MEMORY = 700 * 1024 * 1024

let key: string
const settings = { MERIDIAN_PLANS: widePlansFile(), MERIDIAN_LOG_LEVEL: 'warn' }
const { server, addKey } = sharedServer(settings, async () => {
  key = await addKey()
})

/** The number of files, and thus connections, that the process may open. */
function mostFiles(): number {
  return Number(/^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
}

const filesOf = ({ pid }: Running) => readdirSync(`/proc/${pid}/fd`).length

/** Floods from `addresses` addresses, beginning with 127.0.1.`first`. */
async function flood(mode: string, count: number, [first, addresses]: readonly [number, number]) {
  const { port } = new URL(server.url)
  const from = Array.from({ length: addresses }, (_, n) => `127.0.1.${first + n}`).join(',')
  const script = 'tests/http/flood-client.ts'
  const args = [script, port, from, String(count), mode, String(SECONDS)]
  const { stdout, stderr } = await runScript(args, {})
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

/** Sends look-ups while `work` runs. Every one must be answered. */
async function askMeanwhile(work: Promise<unknown>): Promise<number> {
  const load = startLoad(server.url, key, CLIENTS)
  await work
  const memory = privateMemory(server)
  load.stop()
  await load.ended
  assert.deepEqual(load.others, [], 'no look-up fails')
  assert.ok(memory < MAX_MEMORY, `${Math.round(memory / 2 ** 20)} MB`)
  return load.answeredAt.length
}

/** Whether a new client gets an answer. */
async function assertOpenToOthers(): Promise<void> {
  const headers = { 'x-api-key': key, connection: 'close' }
  assert.equal((await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })).status, 200)
}

describe('look-ups of other clients continue', () => {
  for (const mode of ['silent', 'headers', 'body']) {
    it(`while one address opens 20,000 connections: ${mode}`, async (t) => {
      if (mostFiles() < 15_000) return t.skip(`only ${mostFiles()} files may be open`)
      // Two processes: one alone may not be allowed to open that many.
      const floods = Promise.all([1, 1].map((first) => flood(mode, COUNT / 2, [first, 1])))
      const answered = await askMeanwhile(floods)
      await assertOpenToOthers()
      const opened = (await floods).reduce((sum, each) => sum + each.opened, 0)
      t.diagnostic(`${opened} connections opened, ${answered} look-ups answered`)
      assert.ok(opened >= COUNT)
    })
  }

  it('while twenty addresses open a thousand connections each and send little', async (t) => {
    if (mostFiles() < 15_000) return t.skip(`only ${mostFiles()} files may be open`)
    const floods = Promise.all(
      [1, 101].map((first) => flood('headers', COUNT / 2, [first, ADDRESSES / 2])),
    )
    const answered = await askMeanwhile(floods)
    await assertOpenToOthers()
    t.diagnostic(`${answered} look-ups answered`)
  })
})

describe('connections with unread answers', () => {
  it('are reset, and use little memory until then', async (t) => {
    const files = filesOf(server)
    const memory = privateMemory(server)
    const ips = Array.from({ length: 1_000 }, (_, n) => `81.2.${n >> 8}.${n & 255}`)
    const body = JSON.stringify({ ips })
    const head = `POST /v1/ip/batch HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`
    const request = `${head}Content-Length: ${body.length}\r\n\r\n${body}`
    // More answers on each connection than the kernel buffers, which is about ten megabytes.
    const connections = await Promise.all(
      Array.from({ length: 20 }, () => openConnection(server.url, '127.0.1.99')),
    )
    for (const { socket } of connections) {
      socket.pause()
      socket.write(request.repeat(60))
    }
    await sleep(5_000)
    const grown = privateMemory(server) - memory
    t.diagnostic(`${Math.round(grown / 2 ** 20)} MB more`)
    assert.ok(grown < MAX_MEMORY)
    await assertOpenToOthers()
    const deadline = performance.now() + 60_000
    while (filesOf(server) >= files + connections.length / 2) {
      assert.ok(performance.now() < deadline, 'the connections are still open')
      await sleep(500)
    }
    for (const { socket } of connections) socket.destroy()
  })
})
