import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { readBytes } from '../lib/parse.ts'

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
