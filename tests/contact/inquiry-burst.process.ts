import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { newDataFolder, type Running, startServer } from '../support/process.ts'
import { LOADER } from '../support/runtime.ts'

// run: alone

/*
 * A burst of inquiries from many addresses; the process is killed in the middle of it. Each address
 * sends twice as many inquiries as it may. Turnstile and the mail server are real servers on loopback.
 */

const ADDRESSES = 500
const PER_ADDRESS = 10
/** The first five are accepted, the others refused. */
const EXPECTED = Array.from({ length: PER_ADDRESS }, (_, n) => (n < 5 ? 200 : 429))
const CLIENTS = 32
const KILL_AFTER = 1_200
const GROWTH_LIMIT_MB = 100
const DELIVERY_LIMIT_MS = 300_000

const { dataDir, settings: folder, remove } = newDataFolder()
const mails = join(dataDir, 'mails.txt')
const turnstile = await startLoopbackServer((asked, answer) => {
  asked.resume().on('end', () => answer.end('{"success":true}'))
})
const mailServer = spawn(
  process.execPath,
  [...LOADER, 'tests/contact/recording-mail-server.ts', mails],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
after(async () => {
  mailServer.kill()
  await turnstile[Symbol.asyncDispose]()
  remove()
})

let settings: Readonly<Record<string, string>>
before(async () => {
  const [url] = await once(mailServer.stdout, 'data')
  settings = {
    // Garbage that V8 has not collected yet would distort the measurement.
    NODE_OPTIONS: '--max-semi-space-size=8',
    ...folder,
    MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
    MERIDIAN_CONTACT: 'mailto:support@shop.example',
    MERIDIAN_SMTP_URL: String(url).trim(),
    MERIDIAN_LOG_LEVEL: 'warn',
    TURNSTILE_SECRET_KEY: 'any',
    TURNSTILE_VERIFY_URL: turnstile.origin,
  }
})

interface Burst {
  /** Names of the inquiries that were answered 200. */
  readonly accepted: Set<string>
  /** Inquiries without a complete answer, which may be stored or not. */
  readonly open: Set<string>
  /** The statuses of each address that sent nothing while the server was killed. */
  readonly statuses: (readonly number[])[]
}

/** Sends the inquiries of every address; `getUrl` waits while no server runs. */
async function sendBurst(burst: Burst, getUrl: () => Promise<string>): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  let next = 0
  const client = async () => {
    while (next < ADDRESSES) {
      const address = next++
      const statuses = await sendFrom(address, burst, { agent, url: await getUrl() })
      if (statuses.length === PER_ADDRESS) burst.statuses.push(statuses)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  agent.destroy()
}

async function sendFrom(
  address: number,
  { accepted, open }: Burst,
  to: { agent: Agent; url: string },
): Promise<number[]> {
  const statuses: number[] = []
  for (let n = 0; n < PER_ADDRESS; n++) {
    const name = `Client ${address} ${n}`
    const status = await send(to, name, `10.1.${address >> 8}.${address & 255}`)
    if (status === 200) accepted.add(name)
    if (status === null) {
      open.add(name)
      return statuses
    }
    statuses.push(status)
  }
  return statuses
}

/** The status of the answer; null if it was not complete. */
function send(
  { agent, url }: { agent: Agent; url: string },
  name: string,
  from: string,
): Promise<number | null> {
  return new Promise((resolve) => {
    const fail = () => resolve(null)
    const read = (answer: IncomingMessage) => {
      answer.on('error', fail)
      answer.on('end', () => resolve(answer.complete ? (answer.statusCode ?? 0) : null))
      answer.resume()
    }
    const headers = { 'x-forwarded-for': from }
    const message = 'We need two million look-ups a month. '.repeat(20)
    const body = { name, email: 'ada@shop.example', message, verification: 'token' }
    request(`${url}/v1/contact`, { method: 'POST', agent, headers }, read)
      .on('error', fail)
      .end(JSON.stringify(body))
  })
}

function residentMb({ pid }: Running): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024
}

/** Waits until the server has loaded what it loads some seconds after its start. */
async function settle(server: Running): Promise<void> {
  for (let before = 0; Math.abs(residentMb(server) - before) > 1; await sleep(4_000)) {
    before = residentMb(server)
  }
}

/** The names in the delivered mails, each with the ids of its copies. */
function readMails(): Map<string, string[]> {
  const lines = existsSync(mails) ? readFileSync(mails, 'utf8').trim().split('\n') : []
  const names = new Map<string, string[]>()
  for (const line of lines) {
    const [id = '', subject = ''] = line.split('\t')
    const name = subject.replace('Inquiry from ', '')
    names.set(name, [...(names.get(name) ?? []), id])
  }
  return names
}

function countWaiting(): number {
  const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
  const waiting = db.prepare("SELECT count(*) FROM inquiries WHERE state <> 'delivered'")
  const count = Number(waiting.pluck().get())
  db.close()
  return count
}

describe('a server that gets 5,000 inquiries in a burst, with a kill -9 among them,', () => {
  const burst: Burst = { accepted: new Set(), open: new Set(), statuses: [] }
  const memory: { warm: number; most: number }[] = []

  it('delivers all inquiries and stops with exit code 0', async (t) => {
    let server = await startServer(settings)
    await settle(server)
    let ready = Promise.resolve(server.url)
    const watchMemory = async (until: () => boolean) => {
      const { size } = burst.accepted
      while (burst.accepted.size < size + 500) await sleep(20)
      const watched = { warm: residentMb(server), most: 0 }
      for (; !until(); await sleep(20)) watched.most = Math.max(watched.most, residentMb(server))
      memory.push(watched)
    }
    let sent = false
    const sending = sendBurst(burst, () => ready).then(() => {
      sent = true
    })
    await watchMemory(() => burst.accepted.size >= KILL_AFTER)
    const restarted = Promise.withResolvers<string>()
    ready = restarted.promise
    const before = readMails().size
    await server.stop('SIGKILL')
    server = await startServer(settings)
    await settle(server)
    restarted.resolve(server.url)
    await watchMemory(() => sent)
    await sending
    const deadline = performance.now() + DELIVERY_LIMIT_MS
    while (countWaiting() > 0 && performance.now() < deadline) await sleep(500)
    const { code, stdout } = await server.stop('SIGTERM')
    t.diagnostic(
      JSON.stringify({ accepted: burst.accepted.size, open: burst.open.size, before, memory }),
    )
    assert.equal(code, 0, stdout)
  })

  it('accepts five per address', () => {
    assert.ok(burst.statuses.length > ADDRESSES - 2 * CLIENTS)
    for (const statuses of burst.statuses) {
      assert.deepEqual(statuses, EXPECTED)
    }
  })

  it('does not increase memory use', () => {
    for (const { warm, most } of memory) assert.ok(most - warm < GROWTH_LIMIT_MB, `${warm} ${most}`)
  })

  it('delivers every acknowledged inquiry, and nothing else', () => {
    const names = readMails()
    for (const name of burst.accepted) assert.ok(names.has(name), `${name} is lost`)
    for (const name of names.keys()) {
      assert.ok(burst.accepted.has(name) || burst.open.has(name), `${name} was not sent`)
    }
  })

  it('delivers each inquiry once, except the one in flight when the process was killed', () => {
    const copies = [...readMails().values()].filter((ids) => ids.length > 1)
    assert.ok(copies.length <= 1, JSON.stringify(copies))
    for (const ids of copies) assert.equal(new Set(ids).size, 1)
    const ids = [...readMails().values()].flat()
    assert.equal(new Set(ids).size, readMails().size)
  })
})
