import { lookup } from 'node:dns/promises'
import { MINUTE_MS } from '../../parts/durations.ts'
import { parseAddress } from '../../parts/net/address.ts'
import { isPublic } from '../../parts/net/public-address.ts'
import type { Send } from '../download/http-request.ts'

const MAX_REDIRECTS = 5
/** Ends the download from a server that sends very slowly. */
const TIMEOUT_MS = 10 * MINUTE_MS

/**
 * Sends a request. Follows redirects within the origin, and to https on public addresses. Throws at any other:
 * the publisher of a geofeed must not make this server read from its private network.
 */
export const followPublicRedirects: Send = async (url, init) => {
  const limit = AbortSignal.timeout(TIMEOUT_MS)
  const signal = init.signal == null ? limit : AbortSignal.any([init.signal, limit])
  let from = new URL(url)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(from, { ...init, signal, redirect: 'manual' })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    from = await targetOf(from, location)
  }
  throw new Error(`it is redirected more than ${MAX_REDIRECTS} times`)
}

async function targetOf(from: URL, location: string): Promise<URL> {
  const to = URL.parse(location, from.href)
  if (to !== null && to.origin === from.origin) return to
  if (to?.protocol !== 'https:' || to.username !== '' || !(await isPublicHost(to.hostname))) {
    throw new Error(`it is redirected to "${location}", which is not https on a public address`)
  }
  return to
}

async function isPublicHost(hostname: string): Promise<boolean> {
  const found = await lookup(hostname.replaceAll(/[[\]]/g, ''), { all: true })
  const addresses = found.map(({ address }) => parseAddress(address))
  return addresses.every((address) => address !== null && isPublic(address))
}
