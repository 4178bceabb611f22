import { readFileSync } from 'node:fs'
import { BoundedCache } from '../bounded-cache.ts'
import { asMap, mapAt, mapsAt, textAt } from './fields.ts'
import type { Mmdb } from './mmdb.ts'
import { plainName } from './plain-name.ts'
import type { RegionCode } from './schemas/schema.ts'

/** Names of the regions of a country by their ISO 3166-2 code: `{"GB-ENG": "England"}`. */
export type RegionNames = Readonly<Record<string, string>>

/** Collects the subdivisions that a MaxMind City file names, for files that hold only names. */
export function collectRegions(mmdb: Mmdb): RegionNames {
  const regions: Record<string, string> = {}
  for (const offset of mmdb.offsets(Number.POSITIVE_INFINITY)) {
    const record = asMap(mmdb.decode(offset))
    const country = textAt(mapAt(record, 'country'), 'iso_code')
    const [first] = mapsAt(record, 'subdivisions')
    const code = first && textAt(first, 'iso_code')
    const name = first && textAt(first, 'names')
    if (country && code && name) regions[`${country}-${code}`] = name
  }
  return regions
}

const REMEMBERED_NAMES = 20_000

/**
 * Finds codes by name. Providers write one region as Stockholm, Stockholm County or Region
 * Stockholm: where no name is the same, the one that is the same but for such words is meant,
 * unless two of the country's regions are (Moscow and Moscow Oblast).
 */
export function createRegionCode(names: RegionNames): RegionCode {
  const exact = new Map<string, string>()
  const loose = new Map<string, string | null>()
  for (const [code, name] of Object.entries(names)) {
    const country = code.slice(0, 2)
    exact.set(`${country}:${plainName(name)}`, code)
    const key = `${country}:${looseName(name)}`
    loose.set(key, loose.has(key) ? null : code)
  }
  const remembered = new BoundedCache<string, string | null>(REMEMBERED_NAMES)
  const find = (country: string, name: string) =>
    exact.get(`${country}:${plainName(name)}`) ?? loose.get(`${country}:${looseName(name)}`)
  return (country, name) => {
    const key = `${country}:${name}`
    const known = remembered.get(key)
    if (known !== undefined) return known ?? undefined
    const code = find(country, name) ?? null
    remembered.set(key, code)
    return code ?? undefined
  }
}

const KINDS = new Set(
  (
    'autonomous canton capital city community county department district governorate ' +
    'metropolitan municipality national oblast of parish prefecture province region republic ' +
    'state territory the union voivodeship'
  ).split(' '),
)

function looseName(name: string): string {
  const words = plainName(name).split(' ')
  const own = words.filter((word) => !KINDS.has(word))
  return (own.length === 0 ? words : own).join(' ')
}

/** Reads the names that were collected when the data was prepared; none where there is no file. */
export function readRegions(path: string): RegionNames {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw new Error(`Cannot read the region names in ${path}: delete it and run npm run geo`, {
      cause: error,
    })
  }
}
