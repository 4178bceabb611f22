import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import * as v from 'valibot'
import { parse, readBytes } from '../../lib/parts/parse.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const MANY = 200_000
const MAX_GROWTH_BYTES = 5_000_000

describe('readBytes', () => {
  it('joins the chunks of a body', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 50 })
    await fc.assert(
      fc.asyncProperty(chunks, async (all) => {
        const body = ReadableStream.from(all)
        const bytes = await readBytes({ headers: new Headers(), body }, 2_500)
        assert.deepEqual(Buffer.from(bytes), Buffer.concat(all))
      }),
    )
  })

  it('takes no more memory for many small chunks than for their bytes', async () => {
    const heap = () => {
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    let growth = Number.POSITIVE_INFINITY
    const before = heap()
    const body = ReadableStream.from(
      (async function* () {
        for (let sent = 0; sent < MANY; sent++) yield new Uint8Array([sent])
        growth = heap() - before
      })(),
    )
    const { length } = await readBytes({ headers: new Headers(), body }, MANY)
    assert.equal(length, MANY)
    assert.ok(growth < MAX_GROWTH_BYTES, `${growth} bytes`)
  })
})

const Body = v.strictObject({
  ips: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(2)),
  kind: v.optional(v.picklist(['a', 'b'])),
  count: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9))),
  note: v.nullish(v.pipe(v.string(), v.minLength(2))),
  own: v.optional(v.pipe(v.string(), v.regex(/^x$/, 'must be x'))),
})

function problem(input: unknown): string {
  try {
    parse(Body, input)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return ''
}

describe('the message for a bad value', () => {
  it('says what is wrong in plain words', () => {
    const ips = ['1']
    for (const [input, message] of [
      [{}, 'ips: is missing'],
      [{ ips: [] }, 'ips: must have at least 1 entry'],
      [{ ips: ['1', '2', '3'] }, 'ips: must have at most 2 entries'],
      [{ ips: '1' }, 'ips: must be a list'],
      [{ ips: [1] }, 'ips.0: must be a text'],
      [{ ips, kind: 'c' }, 'kind: must be "a" or "b"'],
      [{ ips, count: 1.5 }, 'count: must be a whole number'],
      [{ ips, count: 0 }, 'count: must be at least 1'],
      [{ ips, count: 10 }, 'count: must be at most 9'],
      [{ ips, note: 'x' }, 'note: must have at least 2 characters'],
      [{ ips, other: 1 }, 'other: is not a field of this request'],
      ['text', 'must be an object'],
      [{ ips, own: 'y' }, 'own: must be x'],
    ] as const) {
      assert.equal(problem(input), message)
    }
  })
})
