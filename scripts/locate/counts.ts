import { TOP_DEFAULT } from '../../lib/contract/geo/summary.ts'
import { createJsonLines } from '../../lib/geo/answer/bulk.ts'
import { createSummary } from '../../lib/geo/answer/summary.ts'
import { createSpots } from '../../lib/list/map-spots.ts'
import type { Row } from '../../lib/list/read-list.ts'
import { type Address, formatIpv4, parseAddress } from '../../lib/net/address.ts'
import type { Geo } from './row-writer.ts'

type Counts = ReturnType<typeof createCounts>

/** How often each address occurs. */
export function createCounts() {
  const times = new Map<string, number>()
  let without = 0
  const addRow = ({ kind, address }: Row) => {
    if (kind !== 'row') return
    const parsed = parseAddress(address ?? '')
    if (parsed === null) {
      without += 1
      return
    }
    const text = ownText(parsed)
    times.set(text, (times.get(text) ?? 0) + 1)
  }
  return {
    add: (rows: readonly Row[]) => {
      for (const row of rows) addRow(row)
    },
    times,
    without: () => without,
  }
}

/** A part of a text would keep the whole text in memory. */
function ownText(address: Address): string {
  return address.version === 4 ? formatIpv4(address.bits) : address.text
}

/** Looks up each address once, and counts the rows by where it is. */
export function countPlaces({ find }: Geo, { times, without }: Counts) {
  const [summary, spots] = [createSummary({ top: TOP_DEFAULT }), createSpots()]
  const toJson = createJsonLines(find)
  summary.addInvalid(without())
  for (const [address, count] of times) {
    const result = JSON.parse(toJson(address, 0))
    summary.add(address, result, count)
    spots.add(result, count)
  }
  return { summary: summary.summarize(), spots: spots.spots(), elsewhere: spots.elsewhere() }
}
