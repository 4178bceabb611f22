import { MERGED } from '../../lib/geo/accuracy/ask.ts'
import type { Estimate } from '../../lib/geo/accuracy/bootstrap.ts'
import { GAZETTEER, GAZETTEER_ATTRIBUTION } from '../../lib/geo/accuracy/gazetteer-file.ts'
import type { MeasureName, Scores } from '../../lib/geo/accuracy/measures.ts'
import type { Calibration } from '../../lib/geo/accuracy/report.ts'
import type { Measurement } from './measurement.ts'

/** What each measure is called, in the order of the tables. */
export const TITLES = {
  country: 'country',
  region: 'region',
  namesCity: 'names a city',
  within25Km: 'city within 25 km',
  within50Km: 'city within 50 km',
  within100Km: 'city within 100 km',
  within50KmIfNamed: 'within 50 km, if named',
  medianErrorKm: 'median error in km, if named',
  insideRadius: 'inside accuracyRadius',
  insideRadiusAndAllowance: 'inside accuracyRadius + 25 km',
  timezone: 'timezone',
} as const satisfies Readonly<Record<keyof Scores, string>>

// safe: the keys of TITLES
export const MEASURES_SHOWN = Object.keys(TITLES) as (MeasureName | 'medianErrorKm')[]

export type Weight = 'perPrefix' | 'perGroup'

export const WEIGHTS = { perPrefix: 'per prefix', perGroup: 'per group' } as const

/** Without groups, both weights are the same. */
export function weightsOf({ groups }: Measurement['truth']): Weight[] {
  return groups === 0 ? ['perPrefix'] : ['perPrefix', 'perGroup']
}

/** A column's title. */
export function sourceName({ name }: { readonly name: string }): string {
  return name === MERGED ? name : `${name} alone`
}

/** A share as 81.5, with its interval: 81.5 [77.6, 85.7]. */
export function percent(estimate: Estimate | undefined): string {
  return withInterval(estimate, (share) => (100 * share).toFixed(1))
}

export function kilometers(estimate: Estimate | undefined): string {
  return withInterval(estimate, (km) => km.toFixed(1))
}

/** A difference of shares: +1.4 points [0.2, 3.0]. */
export function points(gain: Estimate): string {
  const show = (value: number) => {
    const text = (100 * value).toFixed(1)
    if (Number(text) === 0) return '0.0'
    return value > 0 ? `+${text}` : text
  }
  const { low, high } = gain
  const interval = low === undefined || high === undefined ? '' : ` [${show(low)}, ${show(high)}]`
  return `${show(gain.value)} points${interval}`
}

function withInterval(estimate: Estimate | undefined, show: (value: number) => string): string {
  if (estimate === undefined) return '–'
  const { value, low, high } = estimate
  if (low === undefined || high === undefined) return show(value)
  return `${show(value)} [${show(low)}, ${show(high)}]`
}

export function calibrationTitle({ stated, about }: Calibration): string {
  return `${stated}, and how often the answer is right about the ${about}`
}

/** What was measured, and what was left out. */
export function introduction({
  truth,
  databases,
}: Pick<Measurement, 'truth' | 'databases'>): string[] {
  const { prefixes, ipv4, ipv6, groups, cities, skipped, examples } = truth
  const located = cities.inFile + cities.byName
  const groupsText =
    groups === 0
      ? 'The file names no groups: each prefix is one, so intervals may be too narrow'
      : `Groups, each of which weighs the same in figures per group: ${inEnglish(groups)}`
  return [
    `Prefixes, by one address of each: ${inEnglish(prefixes)} (${inEnglish(ipv4)} IPv4, ${inEnglish(ipv6)} IPv6); with the coordinates of a city: ${inEnglish(located)}`,
    groupsText,
    `Databases: ${databases.map(({ name, built }) => `${name} of ${built}`).join(', ')}`,
    ...skippedText(skipped),
    ...examples.map((example) => `  ${example}`),
    ...citiesText(cities),
  ]
}

function skippedText(skipped: Measurement['truth']['skipped']): string[] {
  const counts = [
    [skipped.bad, skipped.bad === 1 ? 'bad line' : 'bad lines'],
    [skipped.contradictory, 'in two places'],
    [skipped.repeated, 'repeated'],
    [skipped.withoutPlace, 'without a location'],
    [skipped.covered, 'covered by narrower prefixes'],
  ] as const
  return listText('Left out', counts)
}

function citiesText({
  byName,
  unknown,
  ambiguous,
  notLookedUp,
}: Measurement['truth']['cities']): string[] {
  if (notLookedUp > 0) {
    return [
      `${inEnglish(notLookedUp)} cities have no coordinates, so only their country and region are compared; the optional package ${GAZETTEER} would find coordinates by name, but it is not installed`,
    ]
  }
  const counts = [
    [byName, 'found by name'],
    [unknown, 'unknown'],
    [ambiguous, 'ambiguous'],
  ] as const
  const lines = listText('Cities without coordinates', counts)
  return byName > 0 ? [...lines, GAZETTEER_ATTRIBUTION] : lines
}

function listText(title: string, counts: readonly (readonly [number, string])[]): string[] {
  const parts = counts.filter(([count]) => count > 0)
  const text = parts.map(([count, name]) => `${inEnglish(count)} ${name}`).join(', ')
  return parts.length === 0 ? [] : [`${title}: ${text}`]
}

export function inEnglish(count: number): string {
  return count.toLocaleString('en')
}
