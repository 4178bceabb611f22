import type { Sample } from './answer.ts'
import type { Answered } from './ask.ts'
import type { Observation } from './measure-shares.ts'
import { isCityRight, isCountryRight, isRegionRight, type MeasureOptions } from './measures.ts'

/** Compares all answers with the truth: those of each provider alone, as if it were the only one, and the merged ones. */
export function observe(
  samples: readonly Sample[],
  { providers, merged }: Answered,
  options: Pick<MeasureOptions, 'knownRegions'>,
): Observation[] {
  return [...providers, merged].flatMap(({ answers }) =>
    samples.flatMap((sample, at) => {
      const answer = answers[at]
      if (answer?.basis === undefined) return []
      const right = {
        country: isCountryRight(sample, answer),
        region: answer.region === undefined ? undefined : isRegionRight(sample, answer, options),
        city: isCityRight(sample, answer),
      }
      return { group: sample.group, basis: answer.basis, right }
    }),
  )
}
