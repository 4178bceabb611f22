import type { Address } from '../../parts/net/address.ts'
import type { Located } from '../answer/locate.ts'
import { utcOffset } from '../answer/timezones.ts'
import { writeResult } from '../answer/write-result.ts'
import { type Coordinates, LEVEL } from '../place/finding.ts'
import { type Basis, basisOf } from '../place/measured-confidence.ts'
import { timezoneAt } from '../place/timezone-at.ts'
import type { TruthRow } from './read-truth.ts'

/** A row with the address that is looked up. */
export interface Sample extends TruthRow {
  readonly address: Address
}

/** What an answer says about the address, as far as it is measured. */
export interface Answer {
  readonly country: string | undefined
  readonly region: string | undefined
  /** Only at precision `city`: others are centres of countries and regions. */
  readonly city: Coordinates | undefined
  /** IANA name, as the timezone endpoint answers it. */
  readonly timezone: string | undefined
  /** undefined if the address has no place. */
  readonly basis: Basis | undefined
}

export function toAnswer({ place, timezone, finestProduct, confidence }: Located): Answer {
  return {
    country: place?.country?.code,
    region: place?.region?.code,
    city: place?.level === LEVEL.city ? place.coordinates : undefined,
    timezone: timezone?.name,
    basis: place && finestProduct ? basisOf(finestProduct, confidence, place) : undefined,
  }
}

/** The geoConfidence that callers see; undefined if the answer has none. */
export function shownConfidence(address: Address, located: Located): number | undefined {
  const { json } = writeResult(address, located, { now: 0, degraded: false })
  const { location }: { readonly location?: { readonly geoConfidence?: number } } = JSON.parse(
    `{${json}}`,
  )
  return location?.geoConfidence
}

/**
 * Returns a function: whether a zone has the same offsets from UTC, in January and July of the year, as the zone at
 * the coordinates.
 */
export function createHasOffsetsOf(year: number) {
  const days = [Date.UTC(year, 0, 15), Date.UTC(year, 6, 15)]
  const known = new Map<string, string>()
  const offsetsOf = (zone: string): string => {
    const offsets = known.get(zone) ?? days.map((day) => utcOffset(zone, day) ?? zone).join()
    known.set(zone, offsets)
    return offsets
  }
  return (zone: string, { latitude, longitude }: Coordinates): boolean => {
    const right = timezoneAt(latitude, longitude)
    return right !== undefined && (zone === right || offsetsOf(zone) === offsetsOf(right))
  }
}
