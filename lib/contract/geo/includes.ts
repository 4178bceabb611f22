import * as v from 'valibot'
import { quoted } from '../common.ts'

/** What a caller can include beyond the fields of the default answer, and what each adds. */
const ADDED = {
  network: '`network.prefix`, the block of addresses with the same answer',
  privacy: '`privacy` and `sources.privacy`, if the operator has loaded lists',
  confidence: '`location.confidence`, how often answers that rest on the same data were right',
  registered: '`location.registeredCountry`, `location.representedCountry`',
  country:
    '`location.country.capital`, `location.country.currency`, `location.country.callingCode`, `location.country.languages`',
  hostname: '`hostname`, the name in the DNS, if the operator allows it',
} as const

export type Include = keyof typeof ADDED

// safe: the names of a literal object
export const INCLUDES = Object.keys(ADDED) as Include[]

/** Hostnames of many addresses would take too long. */
export const LIST_INCLUDES = [
  'network',
  'privacy',
  'confidence',
  'registered',
  'country',
] as const satisfies readonly Include[]

/** What of these can be included, and what it adds, as lines of Markdown. */
export function includeTexts(names: readonly Include[]): string[] {
  return names.map((name) => `\`${name}\`: ${ADDED[name]}`)
}

/** The description of a parameter: a sentence, and a list of the values. */
export function describeIncludes(sentence: string, names: readonly Include[]): string {
  return [
    sentence,
    includeTexts(names)
      .map((text) => `- ${text}`)
      .join('\n'),
  ].join('\n\n')
}

/** A part of a result that a list can include. */
export function includeOf<const Names extends readonly Include[]>(names: Names) {
  return v.picklist(
    names,
    ({ input }) => `${quoted(input)} cannot be included; ${names.join(', ')} can`,
  )
}
