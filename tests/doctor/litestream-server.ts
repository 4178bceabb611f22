import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'

/** What a Litestream answers. */
interface State {
  /** Epoch milliseconds; undefined: it has not copied yet. */
  readonly syncedAt?: number
  /** How far it has read the write-ahead log, in bytes. */
  readonly read: number
}

/** Answers on the control socket in `dataDir` as Litestream 0.5.18 does. */
export async function startLitestreamServer(dataDir: string) {
  const served: { state: State } = { state: { read: 0 } }
  const path = join(dataDir, 'app.db')
  const answers = {
    '/list': ({ syncedAt }: State) => ({
      path,
      status: 'replicating',
      ...(syncedAt !== undefined && { last_sync_at: new Date(syncedAt).toISOString() }),
    }),
    '/debug/sync-status': ({ read }: State) => ({
      path,
      active: false,
      ...(read > 0 && { last_synced_wal_offset: read }),
    }),
  }
  const server = createServer(({ url }, response) => {
    const answer = url === '/list' || url === '/debug/sync-status' ? answers[url] : undefined
    if (answer === undefined) response.writeHead(404).end('404 page not found')
    else response.end(JSON.stringify({ databases: [answer(served.state)] }))
  })
  server.listen(join(dataDir, 'litestream.sock'))
  await once(server, 'listening')
  return {
    answer: (state: State) => {
      served.state = state
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
