import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { connect, serve } from '../../lib/storage/channel.ts'

interface Methods {
  double(n: number): Promise<number>
  late(n: number): Promise<number>
  fail(code: string): Promise<void>
  bytes(): Promise<Uint8Array>
}

let ports: { port1: MessagePort; port2: MessagePort }
let methods: { -readonly [Name in keyof Methods]: Methods[Name] }
let report: (error: unknown, message: string) => void
const BYTES = Uint8Array.of(1, 2, 3)
const METHODS: Methods = {
  double: async (n) => 2 * n,
  late: async (n) => {
    await sleep(5)
    return n
  },
  fail: async (code) => {
    throw Object.assign(new TypeError('no'), { code })
  },
  bytes: async () => BYTES.slice(),
}
beforeEach(() => {
  methods = { ...METHODS }
  ports = new MessageChannel()
  serve<Methods>(ports.port2, (given) => {
    report = given
    return methods
  })
})
afterEach(() => {
  ports.port1.close()
})

describe('a channel', () => {
  it('returns what the methods of the other end return, in any order', async () => {
    const { call } = connect<Methods>(ports.port1, assert.fail)
    const order: number[] = []
    const track = async (result: Promise<number>) => order.push(await result)
    await Promise.all([track(call('late', 1)), track(call('double', 1)), track(call('double', 4))])
    assert.deepEqual(order, [2, 8, 1])
  })

  it('sends the calls of one turn in one message, and so the answers', async () => {
    const { call } = connect<Methods>(ports.port1, assert.fail)
    const sent: unknown[] = []
    const received: unknown[] = []
    ports.port2.on('message', ({ calls }) => sent.push(calls.length))
    ports.port1.on('message', ({ replies }) => received.push(replies.length))
    await Promise.all([1, 2, 3].map((n) => call('double', n)))
    assert.deepEqual([sent, received], [[3], [3]])
  })

  it('moves bytes, without copying them', async () => {
    const { call } = connect<Methods>(ports.port1, assert.fail)
    const bytes = BYTES.slice()
    methods.bytes = async () => bytes
    assert.deepEqual(await call('bytes'), BYTES)
    assert.equal(bytes.length, 0)
  })

  it('rejects with the error of the other end and its code', async () => {
    const { call } = connect<Methods>(ports.port1, assert.fail)
    const expected = { message: 'no', name: 'TypeError', code: 'SQLITE_FULL' }
    await assert.rejects(call('fail', 'SQLITE_FULL'), (error: Error) => {
      assert.ok(error instanceof Error)
      const { message, name } = error
      assert.deepEqual({ message, name, code: Reflect.get(error, 'code') }, expected)
      assert.match(String(error.stack), /channel\.test\.ts/)
      return true
    })
  })

  it('keeps the cause of an error, and adds no code', async () => {
    methods.double = async () => {
      throw new Error('no', { cause: new RangeError('too much') })
    }
    const { call } = connect<Methods>(ports.port1, assert.fail)
    const error = await call('double', 1).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof Error && error.cause instanceof Error)
    assert.equal(error.cause.message, 'too much')
    assert.equal('code' in error, false)
  })

  it('rejects all calls once it has ended', async () => {
    const { call, end } = connect<Methods>(ports.port1, assert.fail)
    const waiting = call('late', 1)
    end()
    await assert.rejects(waiting, /ended/)
    await assert.rejects(call('double', 1), /ended/)
  })

  it('reports errors that belong to no call', async () => {
    const reports: unknown[] = []
    const { call } = connect<Methods>(ports.port1, (error, message) => {
      assert.ok(error instanceof Error)
      reports.push([error.message, message])
    })
    report(new Error('disk full'), 'cannot write')
    await call('double', 1)
    assert.deepEqual(reports, [['disk full', 'cannot write']])
  })
})
