import type { Server } from 'node:http'

export interface ListenAddress {
  /** 0: any free one. */
  readonly port: number
  readonly host: string
}

/** Makes `server` listen, and returns its URL. Throws an error that says where it cannot, and why. */
export async function listen(server: Server, { port, host }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Error(`Cannot listen at ${urlOf(host, port)}: ${error.code}`, { cause: error })),
    )
    server.listen(port, host, resolve)
  })
  const address = server.address()
  return urlOf(host, typeof address === 'object' ? address?.port : undefined)
}

function urlOf(host: string, port: number | undefined): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
