import { createRequire } from 'node:module'
import { Hono } from 'hono'
import type { CityResponse } from 'mmdb-lib'

/*
 * Answers look-ups with Hono on the native server of the runtime, at the port PORT. Without arguments
 * the answer is a constant country. With the paths of the package maxmind and of a City file, it has
 * the same fields as the answer of nginx.
 */

/** The part of the package maxmind that is used here. It is not among our dependencies. */
interface Maxmind {
  open(path: string): Promise<{ get(ip: string): CityResponse | null }>
}

interface ServeOptions {
  readonly hostname: string
  readonly port: number
  readonly fetch: (request: Request) => Response | Promise<Response>
}

/** The native servers of Deno and Bun, which Node does not have. */
interface Natives {
  readonly Deno?: { serve(options: ServeOptions, handler: ServeOptions['fetch']): unknown }
  readonly Bun?: { serve(options: ServeOptions): unknown }
}

const [packagePath, databasePath = ''] = process.argv.slice(2)
const answer =
  packagePath === undefined
    ? (ip: string) => ({ ip, country: 'US' })
    : await createLookUp(createRequire(import.meta.url)(packagePath))
const app = new Hono().get('/v1/ip/:ip', (context) => {
  return context.json(answer(context.req.param('ip')))
})

// safe: both properties are optional
const { Deno, Bun } = globalThis as Natives
const options = { hostname: '127.0.0.1', port: Number(process.env['PORT']), fetch: app.fetch }
if (Deno !== undefined) Deno.serve(options, app.fetch)
else if (Bun !== undefined) Bun.serve(options)
else (await import('@hono/node-server')).serve(options)

async function createLookUp(maxmind: Maxmind) {
  const reader = await maxmind.open(databasePath)
  return (ip: string) => {
    const { continent, country, subdivisions, city, postal, location } = reader.get(ip) ?? {}
    const [region, district] = subdivisions ?? []
    return {
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
    }
  }
}
