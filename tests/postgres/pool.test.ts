import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openPool } from '../../lib/postgres/pool.ts'

/** AuthenticationOk and ReadyForQuery of PostgreSQL's protocol. */
const READY = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])

/** A server that accepts connections, but answers no statement. */
async function listenSilently() {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => socket.write(READY))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `postgres://user@127.0.0.1:${port}/database`
  const pool = openPool({ url, max: 1, name: 'test', onError: assert.ifError })
  return {
    pool,
    sockets,
    [Symbol.asyncDispose]: async () => {
      await pool[Symbol.asyncDispose]()
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** SQLSTATE connection_failure. */
const FAILURE = { code: '08006' }

it('a connection may be lost while it is lent but not in use', async () => {
  await using silent = await listenSilently()
  const lost = silent.pool.use(async (connection) => {
    silent.sockets[0]?.resetAndDestroy()
    for (let turns = 0; turns < 50; turns++) await nextTurn()
    await connection.query('SELECT 1')
  })
  await assert.rejects(lost, FAILURE)
})

it('a statement that the server does not answer fails after some time', async (t) => {
  await using silent = await listenSilently()
  const stalled = silent.pool.use(async (connection) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const asked = connection.query('SELECT 1')
    for (let turns = 0; turns < 50; turns++) await nextTurn()
    t.mock.timers.tick(65_000)
    await asked
  })
  await assert.rejects(stalled, FAILURE)
  t.mock.timers.reset()
})
