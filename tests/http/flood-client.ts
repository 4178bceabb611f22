import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/*
 * Keeps many connections open without a complete request, or with 64 KB of requests for a page sent at
 * once: `flood-client.ts PORT ADDRESS,… COUNT MODE SECONDS`. Replaces closed connections. Prints as JSON how many it opened in total.
 */

const [port, addresses = '', count, mode = 'silent', seconds] = process.argv.slice(2)

const PAGE = 'GET /docs HTTP/1.1\r\nHost: x\r\n\r\n'
const PAGES = PAGE.repeat(Math.floor((64 * 1024) / PAGE.length))

/** Bytes sent at first, and bytes sent repeatedly after that. */
const MODES: Readonly<Record<string, readonly [first: string, later: string]>> = {
  silent: ['', ''],
  headers: ['GET /v1 HTTP/1.1\r\n', 'x: y\r\n'],
  body: ['POST /v1/telemetry/rum HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\n{', ' '],
  pages: [PAGES, ''],
  'pages-unread': [PAGES, ''],
}

const from = addresses.split(',')
const AT_ONCE = 200
const PAUSE_MS = 20
const TRICKLE_MS = 2_000
const LONGEST_MS = 60_000

const [first, later] = MODES[mode] ?? ['', '']
const open = new Set<Socket>()
let tried = 0
let opened = 0

function openOne(): void {
  const localAddress = from[tried % from.length] ?? ''
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress })
  open.add(socket)
  tried += 1
  socket.on('connect', () => {
    opened += 1
  })
  socket.on('error', () => {})
  socket.on('close', () => open.delete(socket))
  if (mode !== 'pages-unread') socket.on('data', () => {})
  if (first !== '') socket.write(first)
}

const startedAt = performance.now()
/** Runs for `seconds`, and longer if a busy machine has not yet opened `count` connections. */
function isOver(): boolean {
  const ms = performance.now() - startedAt
  return ms > LONGEST_MS || (ms > Number(seconds) * 1_000 && opened >= Number(count))
}

const timer = setInterval(() => {
  if (later !== '') for (const socket of open) socket.write(later)
}, TRICKLE_MS)
while (!isOver()) {
  for (let n = 0; n < AT_ONCE && open.size < Number(count); n++) openOne()
  await sleep(PAUSE_MS)
}
clearInterval(timer)
process.stdout.write(`${JSON.stringify({ opened, open: open.size })}\n`)
for (const socket of open) socket.destroy()
