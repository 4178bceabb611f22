import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { installFastPath } from '../../lib/http/fast-path/fast-path.ts'
import { serveHttp10 } from '../../lib/http/http-server.ts'
import { exchange } from '../support/raw-connection.ts'

describe('a request with Upgrade', () => {
  it('is the last of its connection, whatever follows it', async () => {
    const paths: (string | undefined)[] = []
    const server = createServer(
      serveHttp10(({ url }, response) => {
        paths.push(url)
        response.end('served')
      }),
    )
    installFastPath(server, { answer: () => null, onError: (error) => assert.fail(String(error)) })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    // safe: it listens on a port
    const { port } = server.address() as AddressInfo
    const hidden = `GET /hidden HTTP/1.1\r\nHost: a\r\nx: ${'y'.repeat(200)}\r\n\r\n`
    const upgrade = 'GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n'
    const post = `POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n`
    const padding = `x: ${'y'.repeat(200)}\r\n\r\n`
    const text = await exchange(
      `http://127.0.0.1:${port}`,
      upgrade + padding + post + padding + hidden,
    )
    server.close()
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n.*served$/s)
    assert.deepEqual(paths, ['/upgrade'])
  })
})
