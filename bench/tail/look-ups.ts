import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { createHistogram } from 'node:perf_hooks'
import * as v from 'valibot'

/*
 * Sends look-ups at a steady rate, for steady-look-ups.ts, in its own process so that no other work delays
 * it. Each look-up is due at a fixed time and its latency counts from that time, so that a slow answer also
 * counts in those that wait for it. This avoids coordinated omission.
 */

const CONNECTIONS = 64
const TICK_MS = 1
const MICROSECONDS = 1_000
const LONGEST_US = 60_000_000

const Options = v.object({
  url: v.string(),
  headers: v.record(v.string(), v.string()),
  /** A file of addresses, one per line. */
  addresses: v.string(),
  perSecond: v.number(),
})

const { url, headers, addresses, perSecond } = v.parse(Options, JSON.parse(process.argv[2] ?? ''))
const { hostname, port, pathname } = new URL(url)
const paths = readFileSync(addresses, 'utf8').trim().split('\n')
const head = Object.entries({ host: hostname, ...headers }).map(
  ([name, text]) => `${name}: ${text}`,
)

/** A keep-alive connection with at most one request at a time. */
class Connection {
  readonly #socket: Socket
  readonly #answered: (connection: Connection, status: string) => void
  #received = ''
  dueAt = 0

  constructor(socket: Socket, answered: (connection: Connection, status: string) => void) {
    this.#socket = socket
    this.#answered = answered
    socket.setNoDelay().setEncoding('latin1').on('data', this.#read)
    socket.on('close', () => fail('The server closed a connection'))
  }

  send(request: string, dueAt: number): void {
    this.dueAt = dueAt
    this.#socket.write(request, 'latin1')
  }

  readonly #read = (chunk: string) => {
    this.#received += chunk
    const body = this.#received.indexOf('\r\n\r\n') + 4
    if (body < 4) return
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(this.#received)?.[1]
    if (length === undefined) fail('An answer has no Content-Length')
    if (this.#received.length < body + Number(length)) return
    const status = this.#received.slice(9, 12)
    this.#received = ''
    this.#answered(this, status)
  }
}

const startedAt = performance.now()
/** In microseconds, from the time at which a look-up was due to its answer. */
const latencies = createHistogram({ lowest: 1, highest: LONGEST_US, figures: 3 })
/** How late this process woke up. The server has no part in this delay. */
const delays = createHistogram({ lowest: 1, highest: LONGEST_US, figures: 3 })
/** Connections without a request; the one that has been idle for longest is first. */
const idle: Connection[] = []
/** When the look-ups that wait for a connection were due. */
const waiting: number[] = []
let next = 0
let unanswered = 0
let failed = 0
let isStopped = false

/** Whole milliseconds, since timers cannot wait for less. */
function dueAt(n: number): number {
  return startedAt + Math.floor((n * 1_000) / perSecond)
}

function sendDue(wokenFor: number): void {
  const now = performance.now()
  delays.record(toMicroseconds(now - wokenFor))
  for (; dueAt(next) <= now; next++) waiting.push(dueAt(next))
  sendWaiting()
  if (!isStopped) setTimeout(sendDue, TICK_MS, now + TICK_MS)
}

function sendWaiting(): void {
  while (idle.length > 0 && waiting.length > 0) {
    const address = paths[(next - waiting.length) % paths.length]
    const request = `GET ${pathname}${address} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`
    unanswered += 1
    idle.shift()?.send(request, waiting.shift() ?? 0)
  }
}

function onAnswer(connection: Connection, status: string): void {
  latencies.record(toMicroseconds(performance.now() - connection.dueAt))
  // An address without a location is correctly answered with 404.
  if (status !== '200' && status !== '404') failed += 1
  unanswered -= 1
  idle.push(connection)
  sendWaiting()
}

function toMicroseconds(ms: number): number {
  return Math.max(1, Math.round(ms * MICROSECONDS))
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

async function connect(): Promise<Connection> {
  const socket = createConnection({ host: hostname, port: Number(port) })
  await once(socket, 'connect')
  return new Connection(socket, onAnswer)
}

/** Forgets what was measured so far. */
function reset(): void {
  latencies.reset()
  delays.reset()
  failed = 0
}

/** Waits for the last answers, since the slowest are among them. */
function report(): void {
  isStopped = true
  if (unanswered + waiting.length > 0) {
    setTimeout(report, TICK_MS)
    return
  }
  const ms = (percentile: number) => latencies.percentile(percentile) / MICROSECONDS
  process.send?.({
    lookUps: latencies.count,
    p50: ms(50),
    p99: ms(99),
    p999: ms(99.9),
    longest: latencies.max / MICROSECONDS,
    failed,
    late: delays.percentile(99.9) / MICROSECONDS,
  })
}

idle.push(...(await Promise.all(Array.from({ length: CONNECTIONS }, connect))))
process.on('message', (message) => {
  if (message === 'record') reset()
  else report()
})
process.on('disconnect', () => process.exit())
next = Math.ceil(((performance.now() - startedAt) * perSecond) / 1_000)
sendDue(performance.now())
