import { startMeridian, type Target } from './servers.ts'

/** Starts Meridian with the site of the beacons, which come from many addresses through a proxy. */
export async function startWithSite(folder: string, geoFolder: string): Promise<Target> {
  const settings = { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' }
  const server = await startMeridian(folder, geoFolder, settings)
  const added = await fetch(new URL('/v1/account/me/sites', server.url), {
    method: 'POST',
    headers: server.headers,
    body: JSON.stringify({ name: 'https://bench.example' }),
  })
  if (added.status === 201) return server
  await server.stop()
  throw new Error(`Cannot add a site: ${await added.text()}`)
}
