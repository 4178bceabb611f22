/** How values become places along an axis, and where the axis has its marks. */
export interface Scale {
  /** 0 to 1. */
  place(value: number): number
  readonly ticks: readonly number[]
}

const TICKS = 4

/** Where a value is not known, nothing is drawn. */
const known = (values: readonly number[]) => values.filter(Number.isFinite)

/** From 0 to a round number that no value is over. */
export function linearScale(values: readonly number[]): Scale {
  const largest = Math.max(...known(values), 0)
  const step = roundUp(largest / TICKS)
  const count = Math.max(1, Math.ceil(largest / step))
  const ticks = Array.from({ length: count + 1 }, (_, n) => n * step)
  return { place: (value) => value / (count * step), ticks }
}

/** From a power of ten that no value is under to one that none is over; 0 has no place on it. */
export function decadeScale(values: readonly number[]): Scale {
  const powers = known(values.map(Math.log10))
  const first = Math.floor(Math.min(...powers))
  const last = Math.max(first + 1, Math.ceil(Math.max(...powers)))
  const ticks = Array.from({ length: last - first + 1 }, (_, n) => 10 ** (first + n))
  return { place: (value) => (Math.log10(value) - first) / (last - first), ticks }
}

/** From the smallest to the largest value, which all are marked. */
export function stepScale(values: readonly number[]): Scale {
  const [first, last] = [Math.min(...values), Math.max(...values)]
  const span = Math.log(last / first) || 1
  return { place: (value) => Math.log(value / first) / span, ticks: values }
}

/** To 1, 2 or 5 times a power of ten. */
function roundUp(step: number): number {
  if (!(step > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(step))
  const factor = [1, 2, 5].find((one) => one * power >= step) ?? 10
  return factor * power
}
