import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { newDataFolder, type Running, startServer } from '../e2e/process.ts'

/*
 * A burst of inquiries from many addresses, in the middle of which the process is killed. Each
 * address sends twice as many as it may. Turnstile and the mail server are real servers on loopback.
 */

const ADDRESSES = 1_000
const PER_ADDRESS = 10
/** Five are let through, what follows is refused. */
const EXPECTED = Array.from({ length: PER_ADDRESS }, (_, n) => (n < 5 ? 200 : 429))
const CLIENTS = 32
const KILL_AFTER = 2_500
const GROWTH_LIMIT_MB = 100
const DELIVERY_LIMIT_MS = 300_000

const { dataDir, settings: folder, remove } = newDataFolder()
const mails = join(dataDir, 'mails.txt')
const turnstile = createServer((asked, answer) => {
  asked.resume().on('end', () => answer.end('{"success":true}'))
})
const mailServer = spawn(
  process.execPath,
  ['--import', 'tsx', 'tests/faults/recording-mail-server.ts', mails],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
after(async () => {
  mailServer.kill()
  turnstile.close()
  turnstile.closeAllConnections()
  remove()
})

let settings: Readonly<Record<string, string>>
before(async () => {
  const [url] = await once(mailServer.stdout, 'data')
  turnstile.listen(0, '127.0.0.1')
  await once(turnstile, 'listening')
  // safe: a TCP server that listens has such an address
  const { port } = turnstile.address() as AddressInfo
  settings = {
    // What V8 leaves lying until it collects is not what is asked about.
    NODE_OPTIONS: '--max-semi-space-size=8',
    ...folder,
    MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
    MERIDIAN_CONTACT: 'mailto:support@shop.example',
    MERIDIAN_SMTP_URL: String(url).trim(),
    MERIDIAN_LOG_LEVEL: 'warn',
    TURNSTILE_SECRET_KEY: 'any',
    TURNSTILE_VERIFY_URL: `http://127.0.0.1:${port}`,
  }
})

interface Burst {
  /** Names of the inquiries that were answered 200. */
  readonly accepted: Set<string>
  /** Those without a whole answer: they may be stored or not. */
  readonly open: Set<string>
  /** What the addresses were answered whose server was not killed meanwhile. */
  readonly statuses: (readonly number[])[]
}

/** Sends until every address has had its turn; `getUrl` waits where there is no server. */
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

/** The status of a whole answer; null: there is none. */
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

/** The names in the mails that came, and how many copies came of each. */
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

describe('a burst of 10,000 inquiries with a kill -9 in it', () => {
  const burst: Burst = { accepted: new Set(), open: new Set(), statuses: [] }
  const memory: { warm: number; most: number }[] = []

  it('is limited by address, needs no more memory, and is delivered once', async (t) => {
    let server = await startServer(settings)
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

  it('has let five of each address through', () => {
    assert.ok(burst.statuses.length > ADDRESSES - 2 * CLIENTS)
    for (const statuses of burst.statuses) {
      assert.deepEqual(statuses, EXPECTED)
    }
  })

  it('has left the memory as it was', () => {
    for (const { warm, most } of memory) assert.ok(most - warm < GROWTH_LIMIT_MB, `${warm} ${most}`)
  })

  it('has delivered each that was answered, and nothing else', () => {
    const names = readMails()
    for (const name of burst.accepted) assert.ok(names.has(name), `${name} is lost`)
    for (const name of names.keys()) {
      assert.ok(burst.accepted.has(name) || burst.open.has(name), `${name} was not sent`)
    }
  })

  it('has delivered each once, but for a second copy of the one that was on its way', () => {
    const copies = [...readMails().values()].filter((ids) => ids.length > 1)
    assert.ok(copies.length <= 1, JSON.stringify(copies))
    for (const ids of copies) assert.equal(new Set(ids).size, 1)
    const ids = [...readMails().values()].flat()
    assert.equal(new Set(ids).size, readMails().size)
  })
})
