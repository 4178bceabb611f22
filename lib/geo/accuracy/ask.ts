import type { Address } from '../../parts/net/address.ts'
import { type Located, locate, type SearchedDatabase } from '../answer/locate.ts'
import { type Answer, shownConfidence, toAnswer } from './answer.ts'
import type { Source } from './disagreements.ts'

/** The name of the answers of all databases together. */
export const MERGED = 'merged'

/** What the databases answer to each sample: each provider alone, and all of them. */
export interface Answered {
  readonly providers: readonly Source[]
  readonly merged: Source
  /** The geoConfidence of each merged answer, undefined if it has none. */
  readonly geoConfidence: readonly (number | undefined)[]
  /** How often answers like each merged one were right, undefined if that was not measured. */
  readonly measured: readonly Located['measured'][]
}

/**
 * Looks up the address in the files of each provider alone, and in all. `databases` are in order of priority.
 * Providers that place none of the addresses are left out.
 */
export function createAsk(databases: readonly SearchedDatabase[]) {
  const names = [...new Set(databases.map(({ provider }) => provider))]
  const providers = names.map((name) => {
    const own = databases.filter(({ provider }) => provider === name)
    const answers: Answer[] = []
    return { name, own, answers }
  })
  const merged: Answer[] = []
  const geoConfidence: (number | undefined)[] = []
  const measured: Located['measured'][] = []
  return {
    ask: (address: Address) => {
      for (const { own, answers } of providers) answers.push(toAnswer(locate(own, address)))
      const located = locate(databases, address)
      merged.push(toAnswer(located))
      geoConfidence.push(shownConfidence(address, located))
      measured.push(located.measured)
    },
    answered: (): Answered => ({
      providers: providers.filter(({ answers }) => answers.some(hasPlace)),
      merged: { name: MERGED, answers: merged },
      geoConfidence,
      measured,
    }),
  }
}

function hasPlace({ country }: Answer): boolean {
  return country !== undefined
}
