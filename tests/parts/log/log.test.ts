import assert from 'node:assert/strict'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createLog, type RequestLine } from '../../../lib/parts/log/log.ts'
import { throttle } from '../../../lib/parts/log/throttle.ts'
import { NOON } from '../../support/helpers.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const folder = tempFolder()
let count = 0

function openLog(level: string, node?: number) {
  const path = join(folder, `${count++}.log`)
  const log = createLog({ level, fd: openSync(path, 'w'), node })
  /** Waits for the lines: a write may be under way when `flush` returns. */
  const lines = async (wanted: number) => {
    log.flush()
    for (;;) {
      const text = readFileSync(path, 'utf8')
      const found = text.split('\n').slice(0, -1)
      if (found.length >= wanted) return found.map((line) => JSON.parse(line))
      await setImmediate()
    }
  }
  return { log, lines }
}

const line: RequestLine = {
  time: NOON,
  requestId: '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01',
  method: 'GET',
  route: '/v1/ip/{ipAddress}',
  path: '/v1/"',
  status: 200,
  ms: 0.12345,
  key: 'prefix',
  client: '203.0.113.0/24',
  traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
  parentId: '00f067aa0ba902b7',
}

describe('createLog', () => {
  it('writes a request as one line of JSON', async () => {
    const { log, lines } = openLog('info')
    log.request(line)
    assert.deepEqual(await lines(1), [{ level: 30, ...line, ms: 0.123, msg: 'request' }])
  })

  it('omits unknown fields of a request', async () => {
    const { log, lines } = openLog('info')
    const { route, path, key, client, traceId, parentId, ...known } = line
    const unknown = { route: undefined, path: undefined, key: undefined, client: undefined }
    log.request({ ...known, ...unknown, traceId: undefined, parentId: undefined })
    assert.deepEqual(await lines(1), [{ level: 30, ...known, ms: 0.123, msg: 'request' }])
  })

  it('keeps the order of requests and events', async () => {
    const { log, lines } = openLog('info')
    log.request(line)
    log.error({ err: new Error('boom') }, 'failed')
    log.request(line)
    log.info({ signal: 'SIGTERM' }, 'stopping')
    const written = await lines(4)
    const messages = written.map(({ msg }) => msg)
    assert.deepEqual(messages, ['request', 'failed', 'request', 'stopping'])
    assert.equal(written[1].err.message, 'boom')
  })

  it('writes the lines of others in order, and names its own process', async () => {
    const { log, lines } = openLog('info', 2)
    log.info({}, 'first')
    log.writeBytes(Buffer.from('{"node":3,"msg":"second"}\n{"msg":"third"}\n'))
    log.request(line)
    const written = (await lines(4)).map(({ node, msg }) => `${node} ${msg}`)
    assert.deepEqual(written, ['2 first', '3 second', 'undefined third', '2 request'])
  })

  it('shows the lines of others as text, too, and keeps what is not JSON', () => {
    const path = join(folder, `${count++}.log`)
    const log = createLog({ level: 'info', fd: openSync(path, 'w'), style: 'text' })
    log.writeBytes(Buffer.from('{"level":30,"time":0,"msg":"some"}\nplain\n{ a: 1 }\n'))
    log.flush()
    assert.match(readFileSync(path, 'utf8'), /^\d\d:\d\d:\d\d INFO {2}some\nplain\n\{ a: 1 \}\n$/)
  })

  it('loses no line under load', async () => {
    const { log, lines } = openLog('info')
    for (let n = 0; n < 5_000; n++) log.request({ ...line, status: n })
    const statuses = (await lines(5_000)).map(({ status }) => status)
    assert.deepEqual(statuses, [...Array(5_000).keys()])
  })

  it('writes no line below its level', async () => {
    const { log, lines } = openLog('warn')
    log.request(line)
    log.info({}, 'no')
    log.warn({}, 'yes')
    const messages = (await lines(1)).map(({ msg }) => msg)
    assert.deepEqual(messages, ['yes'])
    const silent = openLog('silent')
    silent.log.error({}, 'no')
    assert.deepEqual(await silent.lines(0), [])
  })
})

describe('throttle', () => {
  it('reports the first call at once and the others once a minute', () => {
    const reported: number[] = []
    let now = 0
    const happen = throttle(
      (count) => reported.push(count),
      () => now,
    )
    happen()
    for (now = 1; now < 60_000; now += 10_000) happen()
    assert.deepEqual(reported, [1])
    now = 60_000
    happen()
    assert.deepEqual(reported, [1, 7])
  })
})
