import type { Named } from './finding.ts'
import { asciiJson } from './json-text.ts'

/** Countries that a record names beside the one where the address is. */
export interface OtherCountries {
  /** Where the network is registered. */
  readonly registered: Named | undefined
  /** Which country the users represent, as of an army abroad. */
  readonly represented: (Named & { readonly type: string | undefined }) | undefined
}

export const NO_OTHERS: OtherCountries = { registered: undefined, represented: undefined }

/** Takes each country from the first record that states it. */
export function joinOthers(found: readonly OtherCountries[]): OtherCountries {
  return {
    registered: found.find((one) => one.registered !== undefined)?.registered,
    represented: found.find((one) => one.represented !== undefined)?.represented,
  }
}

/** As fields of a location, each with a comma before it; '' if there are none. */
export function othersJson({ registered, represented }: OtherCountries = NO_OTHERS): string {
  const first = registered === undefined ? '' : `,"registeredCountry":${asciiJson(registered)}`
  if (represented === undefined) return first
  return `${first},"representedCountry":${asciiJson(represented)}`
}
