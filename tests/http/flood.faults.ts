import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDataFolder, type Running, runScript, startServer } from '../e2e/process.ts'
import { openConnection } from '../raw-connection.ts'
import { startLoad } from './load.ts'

/*
 * Connections by the thousand that ask for nothing, ask slowly, or do not read: look-ups of others
 * are answered all the while. Clients have addresses of their own within 127.0.0.0/8.
 */

const SECONDS = 10
const COUNT = 20_000
const ADDRESSES = 20
const CLIENTS = 4
/** Private memory: 10,000 connections, and what V8 lets lie under load, took up to 464 MB. */
const MOST_MEMORY = 700 * 1024 * 1024

const { dataDir, settings: folder, remove } = newDataFolder()
const plans = join(dataDir, 'plans.json')
const settings = { ...folder, MERIDIAN_PLANS: plans, MERIDIAN_LOG_LEVEL: 'warn' }
const wide = { monthlyCap: 10 ** 9, maxKeys: 10, maxSites: 1, price: 0, requestsPerMinute: 10 ** 7 }

let server: Running
let key: string
before(async () => {
  writeFileSync(plans, JSON.stringify([{ id: 'free', name: 'Wide', ...wide }]))
  server = await startServer(settings)
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'load']
  key = (await runScript(args, settings)).stdout.trim()
})
after(async () => {
  await server.stop('SIGTERM')
  remove()
})

/** How many files the process may open, and so how many connections. */
function mostFiles(): number {
  return Number(/^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
}

function memoryOf({ pid }: Running): number {
  const kilobytes = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

const filesOf = ({ pid }: Running) => readdirSync(`/proc/${pid}/fd`).length

/** Floods from so many addresses, the first of which ends with `first`. */
async function flood(mode: string, count: number, [first, addresses]: readonly [number, number]) {
  const { port } = new URL(server.url)
  const from = Array.from({ length: addresses }, (_, n) => `127.0.1.${first + n}`).join(',')
  const script = 'tests/faults/flood-client.ts'
  const args = [script, port, from, String(count), mode, String(SECONDS)]
  const { stdout, stderr } = await runScript(args, {})
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

/** Asks while `work` goes on; everything is to be answered. */
async function askMeanwhile(work: Promise<unknown>): Promise<number> {
  const load = startLoad(server.url, key, CLIENTS)
  await work
  const memory = memoryOf(server)
  load.stop()
  await load.ended
  assert.deepEqual(load.others, [], 'no look-up fails')
  assert.ok(memory < MOST_MEMORY, `${Math.round(memory / 2 ** 20)} MB`)
  return load.answeredAt.length
}

/** Whether somebody new is answered. */
async function assertOpenToOthers(): Promise<void> {
  const headers = { 'x-api-key': key, connection: 'close' }
  assert.equal((await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })).status, 200)
}

describe('look-ups of others go on', () => {
  for (const mode of ['silent', 'headers', 'body']) {
    it(`while one address opens 20,000 connections: ${mode}`, async (t) => {
      if (mostFiles() < 15_000) return t.skip(`only ${mostFiles()} files may be open`)
      // A process may open too few.
      const floods = Promise.all([1, 1].map((first) => flood(mode, COUNT / 2, [first, 1])))
      const answered = await askMeanwhile(floods)
      await assertOpenToOthers()
      const opened = (await floods).reduce((sum, each) => sum + each.opened, 0)
      t.diagnostic(`${opened} connections opened, ${answered} look-ups answered`)
      assert.ok(opened >= COUNT)
    })
  }

  it('while twenty addresses open a thousand each, and say little', async (t) => {
    if (mostFiles() < 15_000) return t.skip(`only ${mostFiles()} files may be open`)
    const floods = Promise.all(
      [1, 101].map((first) => flood('headers', COUNT / 2, [first, ADDRESSES / 2])),
    )
    const answered = await askMeanwhile(floods)
    await assertOpenToOthers()
    t.diagnostic(`${answered} look-ups answered`)
  })
})

describe('answers that nobody reads', () => {
  it('are given up, and take little memory until then', async (t) => {
    const files = filesOf(server)
    const memory = memoryOf(server)
    const ips = Array.from({ length: 1_000 }, (_, n) => `81.2.${n >> 8}.${n & 255}`)
    const body = JSON.stringify({ ips })
    const head = `POST /v1/ip/batch HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`
    const request = `${head}Content-Length: ${body.length}\r\n\r\n${body}`
    // More for each than the kernel keeps by itself, which is some ten megabytes.
    const connections = await Promise.all(
      Array.from({ length: 20 }, () => openConnection(server.url, '127.0.1.99')),
    )
    for (const { socket } of connections) {
      socket.pause()
      socket.write(request.repeat(60))
    }
    await sleep(5_000)
    const grown = memoryOf(server) - memory
    t.diagnostic(`${Math.round(grown / 2 ** 20)} MB more`)
    assert.ok(grown < MOST_MEMORY)
    await assertOpenToOthers()
    const deadline = performance.now() + 60_000
    while (filesOf(server) >= files + connections.length / 2) {
      assert.ok(performance.now() < deadline, 'they are not given up')
      await sleep(500)
    }
    for (const { socket } of connections) socket.destroy()
  })
})
