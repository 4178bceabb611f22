import { locate, type SearchedDatabase } from '../answer/locate.ts'
import type { GeoDatabase } from '../database.ts'
import { type Answer, type Sample, toAnswer } from './answer.ts'
import type { NewRandom } from './bootstrap.ts'
import { type Gain, gainOf, listOrders, pointGainOf } from './orders.ts'

/** A served file. */
export interface ServedFile extends SearchedDatabase, Pick<GeoDatabase, 'subject'> {
  readonly path: string
  /** Whether MERIDIAN_GEO can name it: not the overlay, the geofeeds and the lists. */
  readonly isMovable: boolean
}

export interface Suggestion {
  /** The providers of places, in the present order. */
  readonly present: readonly string[]
  readonly orders: number
  /** There are too many providers to try all orders. */
  readonly isBounded: boolean
  /** The best of the other orders, which may be worse; absent if there is only one provider. */
  readonly best?: BestOrder
}

export interface BestOrder {
  readonly order: readonly string[]
  /** The paths for MERIDIAN_GEO. */
  readonly files: readonly string[]
  readonly gain: Gain
  /** Whether the whole interval of the overall gain is above zero. */
  readonly isClearlyBetter: boolean
}

interface SuggestOptions {
  /** The merged answers of the present order. */
  readonly present: readonly Answer[]
  readonly newRandom: NewRandom
  readonly onOrder: () => Promise<void>
}

/**
 * Tries the orders of the providers: those of all files that locate one of the samples. Other files, such as those
 * of autonomous systems, stay where they are.
 */
export async function suggestOrder(
  samples: readonly Sample[],
  files: readonly ServedFile[],
  { present, newRandom, onOrder }: SuggestOptions,
): Promise<Suggestion> {
  const placing = files.filter(
    ({ isMovable, find }) =>
      isMovable && samples.some(({ address }) => find(address).place !== undefined),
  )
  const providers = [...new Set(placing.map(({ provider }) => provider))]
  const { orders, isBounded } = listOrders(providers)
  const answersIn = (order: readonly string[]) => {
    const ordered = reordered(files, placing, order).filter(({ subject }) => subject === 'place')
    return samples.map(({ address }) => toAnswer(locate(ordered, address)))
  }
  let best: { readonly order: readonly string[]; readonly gain: number } | undefined
  for (const order of orders.slice(1)) {
    const gain = pointGainOf(samples, present, answersIn(order))
    if (best === undefined || gain > best.gain) best = { order, gain }
    await onOrder()
  }
  const found = { present: providers, orders: orders.length, isBounded }
  const gain = best && gainOf(samples, { present, other: answersIn(best.order) }, newRandom)
  if (best === undefined || gain === undefined) return found
  const movable = reordered(files, placing, best.order).filter(({ isMovable }) => isMovable)
  const isClearlyBetter = (gain.overall.low ?? 0) > 0
  const paths = movable.map(({ path }) => path)
  return { ...found, best: { order: best.order, files: paths, gain, isClearlyBetter } }
}

/** The files in another order of their providers; those that are not in `placing` stay where they are. */
function reordered(
  files: readonly ServedFile[],
  placing: readonly ServedFile[],
  order: readonly string[],
): ServedFile[] {
  const sequence = order.flatMap((name) => placing.filter(({ provider }) => provider === name))
  const next = sequence.values()
  return files.map((file) => (placing.includes(file) ? (next.next().value ?? file) : file))
}
