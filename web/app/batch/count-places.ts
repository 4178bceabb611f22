import { createSummary } from '../../../lib/geo/answer/summary.ts'
import { createSpots } from '../../../lib/list/map-spots.ts'
import type { Answers } from './answers.ts'
import type { Collected } from './collect.ts'
import { createPause } from './pause.ts'

/** Lengths of the lists in the summary. */
const TOP = 10

const ADDRESSES_PER_PAUSE = 500

export type PlaceCounts = Awaited<ReturnType<typeof countPlaces>>

/** Counts the rows of a list by where their addresses are. */
export async function countPlaces({ addresses, counts, without }: Collected, answers: Answers) {
  const summary = createSummary({ top: TOP })
  const spots = createSpots()
  const pause = createPause()
  let waiting = 0
  summary.addInvalid(without)
  for (const [at, address] of addresses.entries()) {
    if (at % ADDRESSES_PER_PAUSE === 0) await pause()
    const times = counts[at] ?? 0
    const { result } = answers.at(at)
    if (result === undefined) {
      waiting += times
      continue
    }
    summary.add(address, result, times)
    spots.add(result, times)
  }
  return {
    summary: summary.summarize(),
    /** Rows whose address is not looked up yet. */
    waiting,
    spots: spots.spots(),
    elsewhere: spots.elsewhere(),
  }
}
