/** 12,345 */
export function count(n: number): string {
  return n.toLocaleString('en')
}

/** The number and its noun: `one` if the number is 1, else `many`. */
export function counted(n: number, one: string, many: string): string {
  return `${count(n)} ${n === 1 ? one : many}`
}

/** 2026-01-15 12:00 from an ISO 8601 time in UTC. */
export function minuteOf(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}

/** 2026-01-15 */
export function dayOf(time: string): string {
  return time.slice(0, 10)
}

/** Stripe's currencies without a smaller unit, and those with thousandths. All others have hundredths. */
const WHOLE = /^(bif|clp|djf|gnf|jpy|kmf|krw|mga|pyg|rwf|vnd|vuv|xaf|xof|xpf)$/i
const THOUSANDTHS = /^(bhd|jod|kwd|omr|tnd)$/i
/** They have no smaller unit any more, but Stripe still counts in hundredths. */
const SHOWN_WHOLE = /^(isk|ugx)$/i

/** €12.34 from an amount in Stripe's smallest unit of the currency, such as cents. */
export function money(amount: number, currency: string): string {
  const digits = digitsOf(currency)
  const value = amount / 10 ** digits
  const fraction = SHOWN_WHOLE.test(currency) && Number.isInteger(value) ? 0 : digits
  try {
    return value.toLocaleString('en', {
      style: 'currency',
      currency,
      minimumFractionDigits: fraction,
      maximumFractionDigits: fraction,
    })
  } catch {
    return count(value)
  }
}

function digitsOf(currency: string): number {
  if (WHOLE.test(currency)) return 0
  return THOUSANDTHS.test(currency) ? 3 : 2
}

/** 2026-01-15 11:00 from an hour of the API, 2026-01-15T11. */
export function hourText(hour: string): string {
  return `${hour.replace('T', ' ')}:00`
}
