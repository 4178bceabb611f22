const LARGEST = 2 ** 32 - 1
const LARGEST_HALF = 2 ** 16 - 1

const FORM = /^(?:asn?)?(?:(\d{1,5})\.(\d{1,5})|(\d{1,10}))$/i

/**
 * Reads the number of an autonomous system in a form of RFC 5396: 15169, or two halves, 0.15169. AS or ASN may stand
 * before it. Returns null for other texts, and for numbers above 32 bits. It accepts 0, which is no system (RFC 7607).
 */
export function parseSystemNumber(text: string): number | null {
  const [found, high = '', low = '', whole] = FORM.exec(text) ?? []
  if (found === undefined) return null
  if (whole !== undefined) return Number(whole) > LARGEST ? null : Number(whole)
  if (Number(high) > LARGEST_HALF || Number(low) > LARGEST_HALF) return null
  return Number(high) * (LARGEST_HALF + 1) + Number(low)
}
