import type { Server as HttpServer } from 'node:http'
import { createServer, type Server } from 'node:net'
import { codeOf, withAdvice } from '../parts/reason.ts'

/** Milliseconds that requests get to finish. Supervisors must wait longer. */
export const STOP_DEADLINE_MS = 10_000

/** Connections whose request has finished are closed this often. */
const SWEEP_INTERVAL_MS = 50

export interface ListenAddress {
  /** 0: any free port. */
  readonly port: number
  readonly host: string
  /** Whether other processes listen there, too. */
  readonly reusePort?: boolean
}

/** The settings that an address comes from, as the advice in errors names them. */
export interface AddressSettings {
  readonly port: string
  readonly host: string
}

const SETTINGS: AddressSettings = { port: 'PORT', host: 'HOST' }

/**
 * Makes `server` listen and returns its URL. The error on failure names the address and the reason, and
 * says what to do.
 */
export async function listen(
  server: Server,
  { port, host, reusePort = false }: ListenAddress,
  settings = SETTINGS,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = withAdvice(codeOf(error), advise(codeOf(error), settings))
      reject(new Error(`Cannot listen on ${urlOf(host, port)}: ${reason}`, { cause: error }))
    })
    server.listen({ port, host, reusePort }, resolve)
  })
  const address = server.address()
  return urlOf(host, typeof address === 'object' ? address?.port : undefined)
}

/** Throws the error of `listen` early, because startup takes long before it listens. */
export async function checkAddress(address: ListenAddress, settings = SETTINGS): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  await listen(server, address, settings)
  await new Promise((closed) => server.close(closed))
}

/**
 * Stops `server`: refuses new connections, closes idle ones and lets requests finish. After
 * `deadlineMs` it cuts the remaining connections: a silent client would keep the server alive.
 */
export async function stopServer(server: HttpServer, deadlineMs = STOP_DEADLINE_MS) {
  const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
  // Node.js keeps a connection open if its last request ends after `close`.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_INTERVAL_MS)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
  clearInterval(sweep)
  clearTimeout(deadline)
}

function advise(code: string, { port, host }: AddressSettings): string {
  switch (code) {
    case 'EADDRINUSE':
      return `another program uses this port, perhaps another Meridian: stop it or set ${port}`
    case 'EACCES':
      return `this user may not use the port: set ${port} to 1024 or more`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `this machine has no such address: change ${host}`
    default:
      return ''
  }
}

function urlOf(host: string, port: number | undefined): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
