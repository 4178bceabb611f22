import { isIP } from 'node:net'
import { createClient, type RedisClientOptions } from '@redis/client'
import { SECOND_MS } from '../durations.ts'
import { inTime, inTimeOrFail } from '../in-time.ts'
import { reasonOf } from '../reason.ts'

/** A Lua script, and the name by which the server knows it once it has run. */
export interface Script {
  readonly source: string
  readonly sha: string
}

/** A connection that opens on first use, and again after it was lost. */
export interface ValkeyConnection extends AsyncDisposable {
  /** Sends one command. Rejects with the server's error, or after two seconds without an answer. */
  send(command: readonly string[]): Promise<unknown>
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>
}

type Client = ReturnType<typeof createClient>

/** How long the server may take to answer a command, or a new connection. */
const ANSWER_MS = 2 * SECOND_MS
const PORT = 6_379

/**
 * Returns a connection to the server of the URL. A failed command closes it: the connection may hang, or its
 * server may no longer be the primary. The next command opens a new one.
 */
export function openValkeyConnection(url: string): ValkeyConnection {
  const options = toOptions(url)
  let connecting: Promise<Client> | undefined
  let isClosed = false
  const forget = (lost: Promise<Client>) => {
    if (connecting === lost) connecting = undefined
    lost.then(
      (client) => client.destroy(),
      () => {},
    )
  }
  const open = (): Promise<Client> => {
    const opened = connect(options, () => forget(opened))
    return opened
  }
  const send = async (command: readonly string[]): Promise<unknown> => {
    if (isClosed) throw new Error('the connection is closed')
    connecting ??= open()
    const used = connecting
    try {
      const client = await used
      return await inTimeOrFail(client.sendCommand(command), ANSWER_MS, noAnswer)
    } catch (error) {
      if (!isUnknownScript(error)) forget(used)
      throw error
    }
  }
  return {
    send,
    run: async ({ source, sha }, keys, args) => {
      const rest = [String(keys.length), ...keys, ...args]
      try {
        return await send(['EVALSHA', sha, ...rest])
      } catch (error) {
        if (!isUnknownScript(error)) throw error
        // The server has not run the script since its last start.
        return send(['EVAL', source, ...rest])
      }
    },
    /** Waits for the answers to commands that were sent. */
    [Symbol.asyncDispose]: async () => {
      isClosed = true
      const client = await connecting?.catch(() => undefined)
      if (client?.isOpen === true) await inTime(client.close(), ANSWER_MS, () => {}).catch(() => {})
      client?.destroy()
    },
  }
}

async function connect(options: RedisClientOptions, onLoss: () => void): Promise<Client> {
  const client = createClient(options)
  // Also called if `connect` fails, which rejects as well.
  client.on('error', onLoss)
  try {
    await inTimeOrFail(client.connect(), ANSWER_MS, noAnswer)
    return client
  } catch (error) {
    client.destroy()
    throw error
  }
}

function isUnknownScript(error: unknown): boolean {
  return reasonOf(error).startsWith('NOSCRIPT')
}

function noAnswer(): Error {
  return new Error(`no answer in ${ANSWER_MS / SECOND_MS} s`)
}

/** Reads the URL here, since the client accepts neither the scheme `valkey` nor addresses in brackets. */
function toOptions(text: string): RedisClientOptions {
  const { hostname, port, protocol, username, password, pathname } = new URL(text)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const isEncrypted = /^(valkeys|rediss):$/.test(protocol)
  const socket = {
    host,
    port: port === '' ? PORT : Number(port),
    connectTimeout: ANSWER_MS,
    reconnectStrategy: false,
  } as const
  return {
    socket: isEncrypted
      ? { ...socket, tls: true, ...(isIP(host) === 0 && { servername: host }) }
      : socket,
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
    database: Number(pathname.slice(1)),
    name: 'meridian',
    disableOfflineQueue: true,
    // Each of them sends a further command, which a user with few rights may not.
    disableClientInfo: true,
    maintNotifications: 'disabled',
  }
}

/** Names the server of the URL for messages, without user and password. */
export function nameServer(url: string): string {
  const { hostname, port } = new URL(url)
  return `the Valkey or Redis server at ${hostname}:${port === '' ? PORT : port}`
}
