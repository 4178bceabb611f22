/** Norwegian counties that were restored in 2024. Files still use their codes from before 2020. */
const CURRENT_CODES: Readonly<Record<string, string>> = {
  'NO-01': 'NO-31',
  'NO-02': 'NO-32',
  'NO-06': 'NO-33',
  'NO-07': 'NO-39',
  'NO-08': 'NO-40',
  'NO-19': 'NO-55',
  'NO-20': 'NO-56',
}

/** Returns the code that ISO 3166-2 has for the region now. */
export function currentRegionCode(code: string): string {
  return CURRENT_CODES[code] ?? code
}
