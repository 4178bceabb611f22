import { decimalPlaces } from '../../../lib/config/money.ts'
import { count } from './format.ts'

/** These currencies no longer have a smaller unit, but Stripe still counts in hundredths. */
const SHOWN_WHOLE = /^(isk|ugx)$/i

/** €12.34 from an amount in Stripe's smallest unit of the currency, such as cents. */
export function money(amount: number, currency: string): string {
  const digits = decimalPlaces(currency)
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
