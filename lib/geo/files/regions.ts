import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { BoundedCache } from '../../parts/bounded-cache.ts'
import { commandText } from '../../parts/clone-or-package.ts'
import { codeOf } from '../../parts/reason.ts'
import { asMap, mapAt, mapsAt, textAt } from '../mmdb/fields.ts'
import type { Mmdb } from '../mmdb/mmdb.ts'
import { plainName } from '../place/plain-name.ts'
import { currentRegionCode } from '../place/region-code.ts'
import type { RegionCode } from '../providers/schema.ts'

/** Names of regions by their ISO 3166-2 code: `{"GB-ENG": "England"}`. */
export type RegionNames = Readonly<Record<string, string>>

/** Collects the regions in a MaxMind City file, for files that have only their names. */
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
 * Returns a function that finds the code of a region by its name. Providers spell one region as
 * Stockholm, Stockholm County or Region Stockholm. If no name matches exactly, words like County are
 * ignored, unless that makes the names of two regions equal (Moscow and Moscow Oblast).
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

/** Reads the collected names. Returns an empty object if there is no file. */
export function readRegions(path: string): RegionNames {
  try {
    const names: RegionNames = JSON.parse(readFileSync(path, 'utf8'))
    return Object.fromEntries(
      Object.entries(names).map(([code, name]) => [currentRegionCode(code), name]),
    )
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {}
    throw new Error(
      `Cannot read the region names in ${path}: delete it and run ${commandText('geo')}`,
      {
        cause: error,
      },
    )
  }
}

/**
 * English names of the regions in ISO 3166-2, for those who state only codes: geofeeds, and the operator of an
 * overlay. The collected names come first, because answers have them elsewhere; the others are Unicode's (CLDR).
 */
export function readRegionNames(path: string): RegionNames {
  return { ...readCldrNames(), ...readRegions(path) }
}

const require = createRequire(import.meta.url)

interface CldrFile {
  readonly subdivisions: { readonly localeDisplayNames: { readonly subdivisions: RegionNames } }
}

/** Its codes are those of ISO 3166-2 in lower case without the hyphen, such as gbeng. */
function readCldrNames(): RegionNames {
  const path = require.resolve('cldr-subdivisions-full/subdivisions/en/en.json')
  const { subdivisions }: CldrFile = JSON.parse(readFileSync(path, 'utf8'))
  return Object.fromEntries(
    Object.entries(subdivisions.localeDisplayNames.subdivisions).map(([code, name]) => {
      const upper = code.toUpperCase()
      return [currentRegionCode(`${upper.slice(0, 2)}-${upper.slice(2)}`), name]
    }),
  )
}
