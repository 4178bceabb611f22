import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type LookUp, lookUpRows } from '../../web/app/look-up-rows.ts'
import type { AddressRow } from '../../web/app/read-rows.ts'
import type { AnsweredRow } from '../../web/app/result-lines.ts'

function rowsOf(...texts: readonly string[]): AddressRow[] {
  return texts.map((text, at) => ({ row: at + 1, text }))
}

/** A service that says back what it is asked, and what was kept of that. */
function service(replace: Partial<LookUp> = {}) {
  const kept: AnsweredRow[] = []
  const asked: (readonly string[])[] = []
  const lookUp: LookUp = {
    size: 2,
    ask: async (ips) => {
      asked.push(ips)
      return { kind: 'answered', results: ips.map((value) => ({ query: { value } })) }
    },
    wait: async () => {},
    keep: (rows) => {
      kept.push(...rows)
    },
    ...replace,
  }
  return { lookUp, kept, asked }
}

describe('looking up rows', () => {
  it('asks for addresses alone, part by part, and keeps the order', async () => {
    const { lookUp, kept, asked } = service()
    const rows = rowsOf('::1', 'ada@example.com', '::3', '::4', 'x', 'y', '::7')
    await lookUpRows(rows, 0, lookUp)
    assert.deepEqual(asked, [['::1'], ['::3', '::4'], ['::7']])
    assert.deepEqual(
      kept.map(({ row }) => row),
      [1, 2, 3, 4, 5, 6, 7],
    )
    const error = { code: 'BAD_REQUEST', message: 'Not an IPv4 or IPv6 address' }
    assert.deepEqual(kept[1]?.result, { query: { type: 'ip', value: 'ada@example.com' }, error })
    assert.deepEqual(kept[6]?.result, { query: { value: '::7' } })
  })

  it('goes on from where it has stopped', async () => {
    const rows = rowsOf('::1', '::2', '::3', '::4')
    const broken = service({
      ask: async (ips) => {
        if (ips.includes('::3')) throw new Error('The service cannot be reached.')
        return { kind: 'answered', results: [{}, {}] }
      },
    })
    await assert.rejects(lookUpRows(rows, 0, broken.lookUp), /cannot be reached/)
    assert.equal(broken.kept.length, 2)
    const { lookUp, asked } = service()
    await lookUpRows(rows, broken.kept.length, lookUp)
    assert.deepEqual(asked, [['::3', '::4']])
  })

  it('waits as long as it is told to, and not for ever', async () => {
    const waits: number[] = []
    let asked = 0
    const { lookUp, kept } = service({
      ask: async () => {
        asked += 1
        return asked < 3 ? { kind: 'wait', seconds: asked } : { kind: 'answered', results: [{}] }
      },
      wait: async (seconds) => {
        waits.push(seconds)
      },
    })
    await lookUpRows(rowsOf('::1'), 0, lookUp)
    assert.deepEqual(waits, [1, 2])
    assert.equal(kept.length, 1)
    const { lookUp: never } = service({ ask: async () => ({ kind: 'wait', seconds: 1 }) })
    await assert.rejects(lookUpRows(rowsOf('::1'), 0, never), /too busy/)
  })
})
