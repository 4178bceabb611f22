import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type LookUp, lookUpRows } from '../../../web/app/batch/look-up-rows.ts'
import type { AddressRow } from '../../../web/app/batch/read-rows.ts'
import type { AnsweredRow } from '../../../web/app/batch/result-lines.ts'

function rowsOf(...texts: readonly string[]): AddressRow[] {
  return texts.map((text, at) => ({ row: at + 1, text }))
}

/** A service that echoes its requests, and the rows that were kept. */
function service(replace: Partial<LookUp> = {}) {
  const kept: AnsweredRow[] = []
  const sent: (readonly string[])[] = []
  const lookUp: LookUp = {
    size: 2,
    send: async (ips) => {
      sent.push(ips)
      return { kind: 'answered', results: ips.map((value) => ({ query: { value } })) }
    },
    wait: async () => {},
    keep: (rows) => {
      kept.push(...rows)
    },
    ...replace,
  }
  return { lookUp, kept, sent }
}

describe('lookUpRows', () => {
  it('sends only addresses, in parts, and keeps the order', async () => {
    const { lookUp, kept, sent } = service()
    const rows = rowsOf('::1', 'ada@example.com', '::3', '::4', 'x', 'y', '::7')
    await lookUpRows(rows, 0, lookUp)
    assert.deepEqual(sent, [['::1'], ['::3', '::4'], ['::7']])
    assert.deepEqual(
      kept.map(({ row }) => row),
      [1, 2, 3, 4, 5, 6, 7],
    )
    const error = { code: 'BAD_REQUEST', message: 'Not an IPv4 or IPv6 address' }
    assert.deepEqual(kept[1]?.result, { query: { type: 'ip', value: 'ada@example.com' }, error })
    assert.deepEqual(kept[6]?.result, { query: { value: '::7' } })
  })

  it('continues where it stopped', async () => {
    const rows = rowsOf('::1', '::2', '::3', '::4')
    const broken = service({
      send: async (ips) => {
        if (ips.includes('::3')) throw new Error('Cannot reach the service.')
        return { kind: 'answered', results: [{}, {}] }
      },
    })
    await assert.rejects(lookUpRows(rows, 0, broken.lookUp), /Cannot reach/)
    assert.equal(broken.kept.length, 2)
    const { lookUp, sent } = service()
    await lookUpRows(rows, broken.kept.length, lookUp)
    assert.deepEqual(sent, [['::3', '::4']])
  })

  it('waits as long as the service says, but gives up in the end', async () => {
    const waits: number[] = []
    let sent = 0
    const { lookUp, kept } = service({
      send: async () => {
        sent += 1
        return sent < 3 ? { kind: 'wait', seconds: sent } : { kind: 'answered', results: [{}] }
      },
      wait: async (seconds) => {
        waits.push(seconds)
      },
    })
    await lookUpRows(rowsOf('::1'), 0, lookUp)
    assert.deepEqual(waits, [1, 2])
    assert.equal(kept.length, 1)
    const { lookUp: never } = service({ send: async () => ({ kind: 'wait', seconds: 1 }) })
    await assert.rejects(lookUpRows(rowsOf('::1'), 0, never), /too busy/)
  })
})
