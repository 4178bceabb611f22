import type { Server } from 'node:http'
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
 * Where all places are taken, the connection that has been silent for longest makes room: it has
 * not sent a whole request yet. Else those go that wait for another request.
 */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const open = new Set<Socket>()
  const silent = new Set<Socket>()
  const byAddress = new Map<string, number>()

  server.on('connection', (socket: Socket) => {
    const address = countedAddress(socket, limits.proxies)
    const count = (byAddress.get(address) ?? 0) + 1
    const isTooMany = address !== '' && count > limits.perAddress
    if (isTooMany || (open.size >= limits.total && !makeRoom(server, silent))) {
      limits.onRefused()
      socket.destroy()
      return
    }
    open.add(socket)
    silent.add(socket)
    byAddress.set(address, count)
    socket.once('close', () => {
      open.delete(socket)
      silent.delete(socket)
      const left = (byAddress.get(address) ?? 0) - 1
      if (left > 0) byAddress.set(address, left)
      else byAddress.delete(address)
    })
  })
  server.on('request', ({ socket }) => silent.delete(socket))
}

/** '': not counted. */
function countedAddress({ remoteAddress = '' }: Socket, proxies: readonly Network[]): string {
  const parsed = parseAddress(remoteAddress.replace(/%.*$/, ''))
  if (parsed === null) return ''
  const address = unmapped(parsed)
  if (proxies.some((network) => contains(network, address))) return ''
  return address.version === 4 ? address.text : truncatedTo64(address)
}

/** Whether there is room for one more, once those are gone that are asked to go. */
function makeRoom(server: Server, silent: Set<Socket>): boolean {
  const [longest] = silent
  if (longest === undefined) {
    server.closeIdleConnections()
    return false
  }
  silent.delete(longest)
  longest.destroy()
  return true
}
