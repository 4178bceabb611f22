import type { Server } from 'node:http'
import * as v from 'valibot'

const Address = v.object({ port: v.number() })

/** Listens on a free port of this machine, and tells the origin with the host as it is named. */
export async function listen(server: Server, host: 'localhost' | '127.0.0.1'): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return `http://${host}:${v.parse(Address, server.address()).port}`
}
