import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createHttpServer } from '../../lib/http/http-server.ts'
import { listen } from '../../lib/http/listen.ts'
import { exchange } from '../support/raw-connection.ts'

describe('a request that is the last of its connection', () => {
  it('drops no answer to an earlier request, even if one of those still waits', async () => {
    const server = createHttpServer(
      ({ url }, response) => {
        response.end(`served ${url}`)
      },
      {
        connections: { total: 10, perAddress: 10, proxies: [], onRefused: () => assert.fail() },
        answerUnreadable: () => ({ status: 400, headers: {}, json: '{}' }),
        answerWhole: { answer: () => null, onError: (error) => assert.fail(String(error)) },
      },
    )
    const url = await listen(server, { port: 0, host: '127.0.0.1' })
    const text = await exchange(
      url,
      [
        'GET /first HTTP/1.1\r\nHost: a\r\n\r\n',
        'GET /waits HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n',
        'GET /last HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ].join(''),
    )
    server.close()
    assert.deepEqual(text.match(/served \/[a-z]+/g), [
      'served /first',
      'served /waits',
      'served /last',
    ])
  })
})
