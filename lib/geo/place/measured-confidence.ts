import { LEVEL, type Place } from './finding.ts'
import table from './measured-shares.json' with { type: 'json' }

/**
 * How often answers were right that rest on the same: about the country, the region, and the city, which is
 * right within 50 km. 0.01 to 0.99; undefined for what such answers do not name.
 */
export interface MeasuredConfidence {
  readonly country: number
  readonly region?: number | undefined
  readonly city?: number | undefined
}

/** How well a second provider agrees (see `confidence`); none: there is no second. */
export const AGREEMENTS = ['none', '0', '0.5', '0.75', '1'] as const
export type Agreement = (typeof AGREEMENTS)[number]

/** The finest level of an answer, and of a city the largest `accuracyRadius`, if it has one. */
export const DETAILS = [
  'country',
  'region',
  'city',
  'city, 10 km',
  'city, 25 km',
  'city, 100 km',
  'city, 499 km',
  'city, wider',
] as const
export type Detail = (typeof DETAILS)[number]

/** What the confidence in an answer depends on. */
export interface Basis {
  /** The product with the finest field. */
  readonly product: string
  readonly agreement: Agreement
  readonly detail: Detail
}

/** By product: the shares in the order of `shareIndex`. */
const shares = indexShares(AGREEMENTS, DETAILS)

function indexShares(agreements: readonly string[], details: readonly string[]) {
  const index = new Map<string, MeasuredConfidence[]>()
  for (const { product, agreement, detail, ...share } of table.rows) {
    const own = index.get(product) ?? []
    own[shareIndex(agreements.indexOf(agreement), details.indexOf(detail))] = share
    index.set(product, own)
  }
  return index
}

/**
 * Returns what was measured for answers with this place, whose finest field comes from `product`, and whose
 * geoConfidence is `agreement`. undefined if no answers of this product were measured.
 */
export function measuredConfidence(
  product: string,
  agreement: number | undefined,
  place: Place,
): MeasuredConfidence | undefined {
  return shares.get(product)?.[shareIndex(agreementIndex(agreement), detailIndex(place))]
}

const ranks: ReadonlyMap<string, number> = new Map(table.order.map((product, at) => [product, at]))

/** Whether answers were measured that rest on these products, in this order of priority. */
export function areMeasured(sources: readonly { readonly product: string }[]): boolean {
  let last = 0
  for (const { product } of sources) {
    const rank = ranks.get(product)
    if (rank === undefined || rank < last) return false
    last = rank
  }
  return sources.length > 0
}

/** Whether answers of the product were measured, in one order at least. */
export function isMeasuredProduct(product: string): boolean {
  return ranks.has(product)
}

/** Returns what `measuredConfidence` looks up. */
export function basisOf(product: string, agreement: number | undefined, place: Place): Basis {
  return {
    product,
    agreement: AGREEMENTS[agreementIndex(agreement)] ?? 'none',
    detail: DETAILS[detailIndex(place)] ?? 'country',
  }
}

function shareIndex(agreement: number, detail: number): number {
  return agreement * DETAILS.length + detail
}

function agreementIndex(agreement: number | undefined): number {
  if (agreement === undefined) return 0
  return agreement === 0 ? 1 : agreement * 4
}

function detailIndex({ level, coordinates }: Place): number {
  if (level < LEVEL.city) return level < LEVEL.region ? 0 : 1
  const miles = coordinates?.accuracyRadius
  return miles === undefined ? 2 : 3 + radiusIndex(miles)
}

/** 10, 25, 100 and 499 km in whole miles. */
const RADII = [6, 16, 62, 310]

function radiusIndex(miles: number): number {
  const index = RADII.findIndex((most) => miles <= most)
  return index < 0 ? RADII.length : index
}
