import { createServer, type Server } from 'node:net'

export interface ListenAddress {
  /** 0: any free port. */
  readonly port: number
  readonly host: string
}

/** Makes `server` listen and returns its URL. The error on failure names the address and the reason. */
export async function listen(server: Server, { port, host }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`Cannot listen on ${urlOf(host, port)}: ${error.code}`, { cause: error })),
    )
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return urlOf(host, typeof address === 'object' ? address?.port : undefined)
}

/** Throws the error of `listen` early, because startup takes long before it listens. */
export async function checkAddress(address: ListenAddress): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  await listen(server, address)
  await new Promise((closed) => server.close(closed))
}

function urlOf(host: string, port: number | undefined): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
