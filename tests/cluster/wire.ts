import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'

/** The network between a server and its database, which can fail without closing a connection. */
export interface Wire extends AsyncDisposable {
  readonly port: number
  /** Connects new connections to another port from now on, as if an address moved. */
  lead(port: number): void
  /** Holds back all bytes of all connections until `resume`. */
  stall(): void
  resume(): void
  /** Never transports another byte of the present connections. New ones work. */
  forget(): void
}

/** Transports bytes between a new port of loopback and the given one. */
export async function openWire(port: number): Promise<Wire> {
  const links = new Set<Link>()
  const forgotten: Link[] = []
  let target = port
  let isStalled = false
  const server = createServer((near) => {
    const link = openLink(near, createConnection({ port: target, host: '127.0.0.1' }))
    links.add(link)
    if (isStalled) link.stall()
    link.far.once('close', () => links.delete(link))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port, // safe: it listens on a port
    lead: (other) => {
      target = other
    },
    stall: () => {
      isStalled = true
      for (const link of links) link.stall()
    },
    resume: () => {
      isStalled = false
      for (const link of links) link.resume()
    },
    forget: () => {
      for (const link of links) link.stall()
      // They are closed only at the end. Until then, neither side notices.
      forgotten.push(...links)
      links.clear()
    },
    [Symbol.asyncDispose]: async () => {
      for (const link of [...links, ...forgotten]) link.destroy()
      server.close()
    },
  }
}

interface Link {
  readonly far: Socket
  stall(): void
  resume(): void
  destroy(): void
}

function openLink(near: Socket, far: Socket): Link {
  let isStalled = false
  const both = [
    [near, far],
    [far, near],
  ] as const
  for (const [from, to] of both) {
    from.on('data', (bytes) => to.write(bytes))
    from.on('error', () => {})
    from.on('close', () => {
      if (!isStalled) to.destroy()
    })
  }
  return {
    far,
    stall: () => {
      isStalled = true
      near.pause()
      far.pause()
    },
    resume: () => {
      isStalled = false
      near.resume()
      far.resume()
      if (near.destroyed) far.destroy()
      if (far.destroyed) near.destroy()
    },
    destroy: () => {
      near.destroy()
      far.destroy()
    },
  }
}
