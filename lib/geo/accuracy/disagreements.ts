import type { Answer, Sample } from './answer.ts'
import type { NewRandom } from './bootstrap.ts'
import { type Estimates, estimateMean } from './statistics.ts'

/** What a provider, or the merged answer, says about each address. */
export interface Source {
  readonly name: string
  readonly answers: readonly Answer[]
}

/** Of the prefixes for which two providers name different countries: the share of each that names the right one. */
export interface Disagreements {
  readonly prefixes: number
  readonly right: readonly { readonly name: string; readonly share: Estimates }[]
  /** No provider is right. */
  readonly nobody?: Estimates
}

/** Compares the providers' countries. */
export function findDisagreements(
  samples: readonly Sample[],
  { providers, merged }: { readonly providers: readonly Source[]; readonly merged: Source },
  newRandom: NewRandom,
): Disagreements {
  const countriesAt = (at: number) => providers.flatMap(({ answers }) => answers[at]?.country ?? [])
  const disputed = samples
    .map((sample, at) => ({ sample, at }))
    .filter(({ at }) => new Set(countriesAt(at)).size > 1)
  const share = (isRight: (country: string, at: number) => boolean) =>
    estimateMean(
      disputed.map(({ sample: { country, group }, at }) => {
        return { group, value: Number(isRight(country, at)) }
      }),
      newRandom,
    )
  const right = [...providers, merged].flatMap(({ name, answers }) => {
    const estimates = share((country, at) => answers[at]?.country === country)
    return estimates === undefined ? [] : [{ name, share: estimates }]
  })
  const nobody = share((country, at) => !countriesAt(at).includes(country))
  return {
    prefixes: disputed.length,
    right,
    ...(nobody && { nobody }),
  }
}
