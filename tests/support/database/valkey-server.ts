import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../../../scripts/parts/start-process.ts'

const POLL_MS = 20
const SETTINGS = { bind: '127.0.0.1', save: '', appendonly: 'no' }

/** A Valkey or Redis server on loopback, which keeps everything in memory alone. */
export interface ValkeyServer extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Ends it with SIGKILL: it forgets everything. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Lets it answer no more, although its connections stay open, until `resume`. */
  pause(): void
  resume(): void
  /** Sends it a line as a client would type it. Returns the answer in the form of the protocol. */
  ask(line: string): Promise<string>
}

/** `settings`: more of its configuration file. */
export async function startValkey(
  settings: Readonly<Record<string, string>> = {},
): Promise<ValkeyServer> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-valkey-'))
  const port = await findFreePort()
  const all = Object.entries({ ...SETTINGS, port: String(port), dir: folder, ...settings })
  const args = all.flatMap(([name, value]) => [`--${name}`, value])
  let server: ChildProcess | undefined
  const start = async () => {
    const program = process.env['MERIDIAN_TEST_VALKEY'] ?? 'redis-server'
    const child = spawn(program, args, { cwd: folder, stdio: 'ignore' })
    server = child
    await once(child, 'spawn')
    while (!/^(\+PONG|-NOAUTH)/.test(await askAt(port, 'PING').catch(() => ''))) {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
      await sleep(POLL_MS)
    }
  }
  const stop = async () => {
    if (server === undefined) return
    const ended = once(server, 'exit')
    server.kill('SIGKILL')
    await ended
    server = undefined
  }
  await start()
  return {
    url: `valkey://127.0.0.1:${port}`,
    port,
    stop,
    start,
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    ask: (line) => askAt(port, line),
    [Symbol.asyncDispose]: async () => {
      await stop()
      rmSync(folder, { recursive: true })
    },
  }
}

async function askAt(port: number, line: string): Promise<string> {
  const socket = createConnection(port, '127.0.0.1')
  socket.write(`${line}\r\nQUIT\r\n`)
  return text(socket)
}
