/**
 * The currencies whose smallest unit, at Stripe, is not a hundredth: https://docs.stripe.com/currencies.
 * `Intl` has other numbers of decimal places for some, such as ISK.
 */
const WHOLE = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' ')
const THOUSANDTHS = 'bhd jod kwd omr tnd'.split(' ')

/** How many decimal places Stripe's smallest unit of the currency has. */
export function decimalPlaces(currency: string): number {
  const code = currency.toLowerCase()
  if (WHOLE.includes(code)) return 0
  return THOUSANDTHS.includes(code) ? 3 : 2
}

/**
 * Writes an amount in the smallest unit of the currency as €12.34. The amount may have a fraction, such
 * as the price of one request, and is never rounded.
 */
export function moneyText(amount: number | string, currency: string): string {
  const digits = decimalPlaces(currency)
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: 15,
  })
  // safe: a number, or a decimal without an exponent
  return format.format(`${amount}e-${digits}` as `${number}`)
}

/**
 * Reads an amount such as 12.34 or 12, and returns it in the smallest unit of the currency; null if it is
 * not an amount, or has more decimal places than the currency.
 */
export function smallestUnit(text: string, currency: string): number | null {
  const [, whole = '', fraction = ''] = /^(\d{1,12})(?:[.,](\d{0,3}))?$/.exec(text) ?? []
  const digits = decimalPlaces(currency)
  if (whole === '' || fraction.length > digits) return null
  return Number(whole + fraction.padEnd(digits, '0'))
}
