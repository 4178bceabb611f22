import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { parseAddress, truncatedTo64, unmapped } from './address.ts'
import { contains, type Network } from './network.ts'

export interface ConnectionLimits {
  /** Open at once. */
  readonly total: number
  /** Of them, those of one address, or of one /64 of IPv6. */
  readonly perAddress: number
  /** Not counted by address: they speak for many clients. */
  readonly proxies: readonly Network[]
  readonly onRefused: () => void
}

/**
 * Closes connections of `server` above the limits. One address cannot take the place of others.
 * Where all places are taken, the connection makes room whose first request, or whose body, has been
 * on its way for longest. Else those go that wait for another request.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const open = new Set<Socket>()
  /** Those that have not sent a whole request yet, the longest first. */
  const unfinished = new Set<Socket>()
  const byAddress = new Map<string, number>()

  server.on('connection', (socket: Socket) => {
    const address = countedAddress(socket, limits.proxies)
    const count = (byAddress.get(address) ?? 0) + 1
    const isTooMany = address !== '' && count > limits.perAddress
    if (isTooMany || (open.size >= limits.total && !makeRoom(server, unfinished))) {
      limits.onRefused()
      socket.destroy()
      return
    }
    open.add(socket)
    unfinished.add(socket)
    byAddress.set(address, count)
    socket.once('close', () => {
      open.delete(socket)
      unfinished.delete(socket)
      const left = (byAddress.get(address) ?? 0) - 1
      if (left > 0) byAddress.set(address, left)
      else byAddress.delete(address)
    })
  })
  server.on('request', (request: IncomingMessage) => {
    const { socket } = request
    unfinished.delete(socket)
    if (!hasBody(request)) return
    unfinished.add(socket)
    request.once('end', () => unfinished.delete(socket))
  })
}

/** '': not counted. */
function countedAddress({ remoteAddress = '' }: Socket, proxies: readonly Network[]): string {
  const parsed = parseAddress(remoteAddress.replace(/%.*$/, ''))
  if (parsed === null) return ''
  const address = unmapped(parsed)
  if (proxies.some((network) => contains(network, address))) return ''
  return address.version === 4 ? address.text : truncatedTo64(address)
}

/** Whether a body follows the head. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined
}

/** Whether there is room for one more, once those are gone that are asked to go. */
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
