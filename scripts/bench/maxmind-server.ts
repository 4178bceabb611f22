import { createRequire } from 'node:module'
import { Hono } from 'hono'
import { serveFetch } from './serve-fetch.ts'

/** What is read of a record of a City file, and of the package: it is no dependency of ours. */
interface Named {
  readonly code?: string
  readonly iso_code?: string
  readonly names?: { readonly en: string }
}

interface City {
  readonly continent?: Named
  readonly country?: Named
  readonly subdivisions?: readonly Named[]
  readonly city?: Named
  readonly postal?: Named
  readonly location?: {
    readonly latitude?: number
    readonly longitude?: number
    readonly accuracy_radius?: number
    readonly time_zone?: string
  }
}

interface Maxmind {
  open(path: string): Promise<{ get(ip: string): City | null }>
}

const [packagePath = '', databasePath = ''] = process.argv.slice(2)
const maxmind: Maxmind = createRequire(import.meta.url)(packagePath)
const reader = await maxmind.open(databasePath)

/** The same fields that nginx answers. */
const app = new Hono().get('/v1/ip/:ip', (context) => {
  const ip = context.req.param('ip')
  const { continent, country, subdivisions = [], city, postal, location } = reader.get(ip) ?? {}
  const [region, district] = subdivisions
  return context.json({
    ip,
    continent: continent?.code,
    country: country?.iso_code,
    country_name: country?.names?.en,
    region: region?.iso_code,
    region_name: region?.names?.en,
    district: district?.names?.en,
    city: city?.names?.en,
    postal_code: postal?.code,
    latitude: location?.latitude,
    longitude: location?.longitude,
    accuracy_radius: location?.accuracy_radius,
    timezone: location?.time_zone,
  })
})

await serveFetch(app.fetch)
