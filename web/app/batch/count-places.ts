import type { Collected } from '../../../lib/address-lists/collect.ts'
import { createPlaceCounts, type PlaceCounts } from '../../../lib/address-lists/count-places.ts'
import type { Answers } from './answers.ts'
import { createPause } from './pause.ts'

const ADDRESSES_PER_PAUSE = 500

export interface CountsSoFar extends PlaceCounts {
  /** Rows whose address is not looked up yet. */
  readonly waiting: number
}

/** Counts the rows of a list by where their addresses are. */
export async function countPlaces(
  { addresses, counts, without }: Collected,
  answers: Answers,
): Promise<CountsSoFar> {
  const places = createPlaceCounts()
  const pause = createPause()
  let waiting = 0
  places.addWithout(without)
  for (const [at, address] of addresses.entries()) {
    if (at % ADDRESSES_PER_PAUSE === 0) await pause()
    const rows = counts[at] ?? 0
    const { result } = answers.at(at)
    if (result === undefined) waiting += rows
    else places.add(address, result, rows)
  }
  return { ...places.counts(), waiting }
}
