import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openPool } from '../../lib/postgres/pool.ts'

/** ReadyForQuery of PostgreSQL's protocol, after AuthenticationOk or CommandComplete. */
const READY = [0x5a, 0, 0, 0, 5, 0x49]
const CONNECTED = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, ...READY])
const DONE = Buffer.from([0x43, 0, 0, 0, 8, ...Buffer.from('SET\0'), ...READY])

/** A server that accepts connections and their first statement, which is the pool's, but answers no other one. */
async function listenSilently() {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(CONNECTED)
      socket.once('data', () => socket.write(DONE))
    })
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
  let isLent = false
  const lost = silent.pool.use(async (connection) => {
    isLent = true
    silent.sockets[0]?.resetAndDestroy()
    for (let turns = 0; turns < 50; turns++) await nextTurn()
    await connection.query('SELECT 1')
  })
  await assert.rejects(lost, FAILURE)
  assert.ok(isLent)
})

it('a statement that the server does not answer fails after some time', async (t) => {
  await using silent = await listenSilently()
  let isLent = false
  const stalled = silent.pool.use(async (connection) => {
    isLent = true
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const asked = connection.query('SELECT 1')
    for (let turns = 0; turns < 50; turns++) await nextTurn()
    t.mock.timers.tick(65_000)
    await asked
  })
  await assert.rejects(stalled, FAILURE)
  assert.ok(isLent)
  t.mock.timers.reset()
})
