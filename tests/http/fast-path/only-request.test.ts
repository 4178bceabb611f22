import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { installFastPath } from '../../../lib/http/fast-path/fast-path.ts'
import { closeServer, listenLocally } from '../../support/loopback-server.ts'
import { exchange, openConnection } from '../../support/raw-connection.ts'

const GET = 'GET /a HTTP/1.1\r\nHost: a.example\r\n'
const CLOSE = 'Connection: close\r\n'

/** How long each answer takes, in milliseconds: longer than a turn may. */
let burnMs = 0
const BURN_MS = 3

/** Answers in each turn of the event loop. */
const turns: number[] = []
const countTurns = () => {
  turns.push(0)
  if (burnMs > 0) setImmediate(countTurns)
}

function answer() {
  const end = performance.now() + burnMs
  while (performance.now() < end);
  turns.push((turns.pop() ?? 0) + 1)
  return { status: 200, headers: { 'x-way': 'plain' }, json: 'a' }
}

const server = createServer((_, response) => {
  response.writeHead(200, { 'x-way': 'usual', 'content-length': 1 }).end('a')
})
let url: string
before(async () => {
  installFastPath(server, {
    answer,
    onError: assert.ifError,
  })
  url = await listenLocally(server)
})
after(() => closeServer(server))

const waysOf = (text: string) => [...text.matchAll(/^x-way: (.*)\r$/gm)].map(([, way]) => way)

/** A connection that the server has accepted. */
async function openAccepted() {
  const accepted = once(server, 'connection')
  const connection = await openConnection(url)
  await accepted
  return connection
}

describe('the only request of a connection', () => {
  for (const version of ['1.0', '1.1']) {
    it(`is answered with the head that node:http writes: HTTP/${version}`, async () => {
      const ask = (more: string) =>
        exchange(url, `${GET.replace('1.1', version)}${CLOSE}${more}\r\n`)
      const withoutDate = (text: string) => text.replace(/^Date: \w{3}, .* GMT$/m, 'Date')
      const [quick, slow] = [await ask(''), await ask('Proxy-Connection: close\r\n')]
      assert.deepEqual([waysOf(quick), waysOf(slow)], [['plain'], ['usual']])
      assert.equal(withoutDate(quick).replace('plain', 'usual'), withoutDate(slow))
    })
  }

  it('ends its connection: nothing that follows is answered', async () => {
    const { socket, ended } = await openConnection(url)
    socket.write(`${GET}${CLOSE}\r\n`)
    await once(socket, 'data')
    socket.write(`${GET}\r\n`)
    assert.deepEqual(waysOf(await ended), ['plain'])
  })

  it('is left to node:http if another follows in the same chunk', async () => {
    const answer = await exchange(url, `${GET}${CLOSE}\r\n${GET}\r\n`)
    assert.deepEqual(waysOf(answer), ['usual'])
  })

  it('waits for its turn if many come at once', async () => {
    burnMs = BURN_MS
    turns.length = 0
    countTurns()
    const connections = await Array.fromAsync({ length: 30 }, openAccepted)
    for (const { socket } of connections) socket.write(`${GET}${CLOSE}\r\n`)
    for (const { ended } of connections) assert.deepEqual(waysOf(await ended), ['plain'])
    burnMs = 0
    assert.equal(Math.max(...turns), 1)
  })

  it('is answered if its client, which sends no more, waits for its turn', async () => {
    burnMs = BURN_MS
    const connections = await Array.fromAsync({ length: 10 }, openAccepted)
    for (const { socket } of connections) socket.end(`${GET}${CLOSE}\r\n`)
    for (const { ended } of connections) assert.deepEqual(waysOf(await ended), ['plain'])
    burnMs = 0
  })

  it('is left to node:http if it comes in parts', async () => {
    const connected = once(server, 'connection')
    const { socket, ended } = await openConnection(url)
    const [taken] = await connected
    const arrived = once(taken, 'data')
    socket.write(GET)
    await arrived
    socket.write(`${CLOSE}\r\n`)
    assert.deepEqual(waysOf(await ended), ['usual'])
  })
})
