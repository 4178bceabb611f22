import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openPool } from '../../lib/postgres/pool.ts'

/** AuthenticationOk and ReadyForQuery of PostgreSQL's protocol. */
const READY = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49])

it('a connection may be lost while it is lent but not in use', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.once('data', () => socket.write(READY))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const url = `postgres://user@127.0.0.1:${port}/database`
  const pool = openPool({ url, max: 1, name: 'test', onError: assert.ifError })
  const lost = pool.use(async (connection) => {
    const [socket] = sockets
    socket?.resetAndDestroy()
    for (let turns = 0; turns < 50; turns++) await nextTurn()
    await connection.query('SELECT 1')
  })
  await assert.rejects(lost)
  await pool[Symbol.asyncDispose]()
  server.close()
})
