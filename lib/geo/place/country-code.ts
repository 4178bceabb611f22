/**
 * Codes that ISO 3166-1 does not have (any more) where it names one successor (ISO 3166-3), and the two reserved ones
 * that European institutions write. Others, such as AN, EU, SU or XX, stand for no country.
 */
const CURRENT_CODES: Readonly<Record<string, string>> = {
  BU: 'MM',
  DD: 'DE',
  DY: 'BJ',
  EL: 'GR',
  FX: 'FR',
  HV: 'BF',
  NH: 'VU',
  RH: 'ZW',
  TP: 'TL',
  UK: 'GB',
  VD: 'VN',
  YD: 'YE',
  ZR: 'CD',
}

/** Returns the code that ISO 3166-1 has for the country now. */
export function currentCountryCode(code: string): string {
  return CURRENT_CODES[code] ?? code
}
