import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, it } from 'node:test'
import { createTransport } from 'nodemailer'
import { startLoopbackServer } from './loopback-server.ts'
import { startMailServer } from './mail-server.ts'
import { LOADER } from './runtime.ts'
import { tempFolder } from './temp-folder.ts'

const MAIL = { from: 'a@a.example', to: 'b@b.example', subject: 'Hello', text: 'Hello' }

/** Resets the connection in the middle of a message, as the kernel does for a killed client. */
async function resetWithinMessage(url: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await reply(socket, 220)
  await command(socket, 'EHLO client.example', 250)
  await command(socket, 'MAIL FROM:<a@a.example>', 250)
  await command(socket, 'RCPT TO:<b@b.example>', 250)
  await command(socket, 'DATA', 354)
  socket.write('Subject: half a mess')
  socket.resetAndDestroy()
  await once(socket, 'close')
}

async function command(socket: Socket, line: string, expected: number): Promise<void> {
  socket.write(`${line}\r\n`)
  await reply(socket, expected)
}

async function reply(socket: Socket, expected: number): Promise<void> {
  const [chunk] = await once(socket, 'data')
  assert.equal(Number.parseInt(String(chunk), 10), expected)
}

async function sendMail(url: string): Promise<void> {
  const transport = createTransport(url)
  await transport.sendMail(MAIL)
  transport.close()
}

describe('a mail server for tests accepts mail after a client was killed in the middle of a message', () => {
  const folder = tempFolder()
  let child: ChildProcess | undefined
  after(() => {
    child?.kill()
  })

  it('in the same process', async () => {
    await using server = await startMailServer()
    for (let n = 0; n < 5; n++) await resetWithinMessage(server.url)
    await sendMail(server.url)
    assert.equal(server.received(), 1)
  })

  it('in a separate process', async () => {
    const record = join(folder, 'mails.txt')
    const args = [...LOADER, 'tests/contact/recording-mail-server.ts', record]
    child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    assert.ok(child.stdout)
    const [line] = await once(child.stdout, 'data')
    const url = String(line).trim()
    for (let n = 0; n < 5; n++) await resetWithinMessage(url)
    await sendMail(url)
    assert.match(readFileSync(record, 'utf8'), /\tHello\n$/)
  })
})

describe('startLoopbackServer', () => {
  it('continues after a client resets the connection in the middle of a body', async () => {
    const bodies: string[] = []
    const begun = Promise.withResolvers<void>()
    const failed = Promise.withResolvers<unknown>()
    await using loopback = await startLoopbackServer(async (request, response) => {
      request.once('data', () => begun.resolve())
      try {
        bodies.push(await text(request))
      } catch (error) {
        failed.resolve(error)
        throw error
      }
      response.end('read')
    })
    const socket = connect(loopback.port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf')
    await begun.promise
    socket.resetAndDestroy()
    assert.match(String(await failed.promise), /aborted/)
    const answer = await fetch(loopback.origin, { method: 'POST', body: 'whole' })
    assert.deepEqual([await answer.text(), bodies], ['read', ['whole']])
  })

  it('answers 500 and throws at the end if the handler fails in any other way', async () => {
    const loopback = await startLoopbackServer(async () => {
      throw new Error('a bug')
    })
    assert.equal((await fetch(loopback.origin)).status, 500)
    await assert.rejects(loopback[Symbol.asyncDispose](), (error: AggregateError) => {
      assert.match(String(error.errors), /a bug/)
      return true
    })
  })

  it('ends connections that wait for an answer', async () => {
    const asked = Promise.withResolvers<void>()
    const loopback = await startLoopbackServer(() => asked.resolve())
    const socket = connect(loopback.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await asked.promise
    const closed = once(socket, 'close')
    await loopback[Symbol.asyncDispose]()
    await closed
  })
})
