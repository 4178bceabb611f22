import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BatchedResponse } from '../../../lib/http/batched-response.ts'
import { installFastPath } from '../../../lib/http/fast-path/fast-path.ts'
import { stopServer } from '../../../lib/http/stop.ts'
import {
  type NetworkThreads,
  startNetworkThreads,
} from '../../../lib/http/threads/network-threads.ts'
import { findFreePort } from '../../../scripts/parts/start-process.ts'
import { openConnection, parseAnswer, type RawConnection } from '../../support/raw-connection.ts'
import { ON_LINUX } from '../../support/runtime.ts'

const NEVER_MS = 600_000
const POST = 'POST /late HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\nhi'
/** The thread answers it, if it may. */
const GET = 'GET /here HTTP/1.1\r\nHost: a.example\r\n\r\n'

/** The header `x-way` says who answered. The fast path of the server answers a POST once `late` resolves. */
let server: Server
let threads: NetworkThreads
let late: PromiseWithResolvers<void>
let url: string
beforeEach(async () => {
  late = Promise.withResolvers()
  server = createServer({ ServerResponse: BatchedResponse }, (_, response) =>
    response.writeHead(200, { 'x-way': 'usual' }).end(),
  )
  installFastPath(server, {
    answer: ({ body }) => (body === null ? null : answerLate()),
    onError: (error) => assert.fail(String(error)),
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  threads = await startNetworkThreads(server, {
    count: 1,
    url: new URL('thread.ts', import.meta.url),
    data: undefined,
    onNews: () => {},
    onCrash: (error) => assert.fail(String(error)),
  })
  const port = await findFreePort()
  await threads.listen({ port, host: '127.0.0.1', reusePort: true })
  url = `http://127.0.0.1:${port}`
})
afterEach(async () => {
  await threads[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})

async function answerLate() {
  await late.promise
  return { status: 200, headers: { 'x-way': 'late' }, json: '' }
}

function waysOf(text: string): (string | null)[] {
  return text.split(/(?=HTTP\/1\.1 )/).map((answer) => parseAnswer(answer).headers.get('x-way'))
}

/** Sends a request, and waits for the answer. Returns who answered. */
async function ask({ socket, received }: RawConnection, bytes: string) {
  const from = received().length
  socket.write(bytes)
  while (!received().slice(from).includes('\r\n\r\n')) await once(socket, 'data')
  return waysOf(received().slice(from)).at(-1)
}

/** A connection whose thread may answer, and the server's end of it. */
async function openKept() {
  const opened = once(server, 'connection')
  const connection = await openConnection(url)
  connection.socket.setNoDelay()
  while ((await ask(connection, GET)) !== 'thread');
  const [theirs] = await opened
  return { connection, theirs }
}

/** Sends bytes, and waits until the server has them. */
async function deliver(bytes: string, { socket }: RawConnection, theirs: Socket): Promise<void> {
  const expected = theirs.bytesRead + bytes.length
  socket.write(bytes)
  while (theirs.bytesRead < expected) await nextTurn()
}

describe('an answer that the server gives later to a network thread', ON_LINUX, () => {
  it('lets the thread answer from then on', async () => {
    const { connection } = await openKept()
    late.resolve()
    assert.equal(await ask(connection, POST), 'late')
    assert.equal(await ask(connection, GET), 'thread')
    connection.socket.destroy()
  })

  it('comes before the answer to a request that arrives meanwhile', async () => {
    const { connection, theirs } = await openKept()
    const { socket, received } = connection
    const from = received().length
    await deliver(POST, connection, theirs)
    await deliver(GET, connection, theirs)
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    late.resolve()
    while (waysOf(received().slice(from)).length < 2) await once(socket, 'data')
    assert.deepEqual(waysOf(received().slice(from)), ['late', 'usual'])
    socket.destroy()
  })

  it('is still sent by a server that stops', async () => {
    const { connection, theirs } = await openKept()
    await deliver(POST, connection, theirs)
    const stopped = stopServer(server, NEVER_MS, threads)
    late.resolve()
    assert.equal(waysOf(await connection.ended).at(-1), 'late')
    await stopped
  })
})
