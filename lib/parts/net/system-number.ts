const LARGEST = 2 ** 32 - 1
const LARGEST_HALF = 2 ** 16 - 1

const FORM = /^(?:asn?)?(?:(\d{1,5})\.(\d{1,5})|(\d{1,10}))$/i

/**
 * Reads the number of an autonomous system in any of the forms of RFC 5396: 15169, or as two halves 0.15169, with or
 * without AS or ASN before it. Returns null for other texts, and for numbers above 32 bits. 0 is no system (RFC 7607).
 */
export function parseSystemNumber(text: string): number | null {
  const [found, high = '', low = '', whole] = FORM.exec(text) ?? []
  if (found === undefined) return null
  if (whole !== undefined) return Number(whole) > LARGEST ? null : Number(whole)
  if (Number(high) > LARGEST_HALF || Number(low) > LARGEST_HALF) return null
  return Number(high) * (LARGEST_HALF + 1) + Number(low)
}
