import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { BoundedCache } from '../parts/bounded-cache.ts'
import { parseAddress, truncatedTo64, unmapped } from '../parts/net/address.ts'
import { contains, type Network } from '../parts/net/network.ts'
import { letGo } from './per-connection.ts'

/** The open connections of a server. */
export type OpenConnections = Pick<ReadonlyMap<Socket, unknown>, 'keys'>

export interface ConnectionLimits {
  /** Connections open at once. */
  readonly total: number
  /** Connections open at once per address, or per /64 of IPv6. */
  readonly perAddress: number
  /** Networks without a limit per address, since a proxy connects for many clients. */
  readonly proxies: readonly Network[]
  readonly onRefused: () => void
}

/**
 * Limits the connections of `server`. When the total is reached, closes the connection whose first
 * request or body has been arriving for longest, to make room for a new one. If there is none,
 * refuses the new one and closes idle ones. Returns the open connections, which is the same collection always.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): OpenConnections {
  const addressOf = createCountedAddress(limits.proxies)
  const open = new Map<Socket, string>()
  /** Connections in the middle of their first request or of a body, oldest first. */
  const unfinished = new Set<Socket>()
  const byAddress = new Map<string, number>()

  server.on('connection', (socket: Socket) => {
    const address = addressOf(socket)
    const count = (byAddress.get(address) ?? 0) + 1
    const isTooMany = address !== '' && count > limits.perAddress
    if (isTooMany || (open.size >= limits.total && !makeRoom(server, unfinished))) {
      limits.onRefused()
      socket.on('close', () => letGo(socket))
      socket.destroy()
      return
    }
    open.set(socket, address)
    unfinished.add(socket)
    byAddress.set(address, count)
    // One function for all: a connection may live for one request only.
    socket.on('close', forget)
  })
  function forget(this: Socket): void {
    const address = open.get(this) ?? ''
    open.delete(this)
    unfinished.delete(this)
    const left = (byAddress.get(address) ?? 0) - 1
    if (left > 0) byAddress.set(address, left)
    else byAddress.delete(address)
    letGo(this)
  }
  server.on('request', (request: IncomingMessage) => {
    const { socket } = request
    unfinished.delete(socket)
    if (!hasBody(request)) return
    unfinished.add(socket)
    request.once('end', () => unfinished.delete(socket))
  })
  return open
}

const REMEMBERED_ADDRESSES = 10_000

/** Returns a function that finds the address that a connection counts towards; '' if it has no limit. */
function createCountedAddress(proxies: readonly Network[]): (socket: Socket) => string {
  const known = new BoundedCache<string, string>(REMEMBERED_ADDRESSES)
  const count = (text: string): string => {
    const parsed = parseAddress(text.replace(/%.*$/, ''))
    if (parsed === null) return ''
    const address = unmapped(parsed)
    if (proxies.some((network) => contains(network, address))) return ''
    return address.version === 4 ? address.text : truncatedTo64(address)
  }
  return ({ remoteAddress = '' }) => {
    const counted = known.get(remoteAddress) ?? count(remoteAddress)
    known.set(remoteAddress, counted)
    return counted
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
}

/** Tries to make room for one more connection. Returns whether there is room now. */
function makeRoom(server: Server, unfinished: Set<Socket>): boolean {
  const [longest] = unfinished
  if (longest === undefined) {
    server.closeIdleConnections()
    return false
  }
  unfinished.delete(longest)
  longest.destroy()
  return true
}
