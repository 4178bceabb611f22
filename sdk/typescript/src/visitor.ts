import { isPublic, parseAddress, unmapped } from './address.ts'
import type { Meridian } from './client.ts'
import type { GeolocationResult, Include, Lang } from './types.ts'

export interface VisitorOptions {
  readonly include?: readonly Include[] | undefined
  readonly lang?: Lang | undefined
  /** Milliseconds that a visitor waits for the location at most; default: 1,000. */
  readonly timeoutMs?: number | undefined
  /** Also locates private addresses, for services that know your own networks. */
  readonly locatesPrivate?: boolean | undefined
  /** Gets the error of a look-up that failed. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** What middleware adds to a request. */
export interface Visitor {
  /** Absent if it is unknown or could not be looked up. */
  location?: GeolocationResult['location']
  /** The whole result, for example with the network. */
  geolocation?: GeolocationResult | undefined
}

/** Locates a visitor. Does not reject, so that a failure of the look-up is none of the request. */
export async function locateVisitor(
  client: Meridian,
  text: string | undefined,
  options: VisitorOptions,
): Promise<Visitor> {
  const parsed = parseAddress(text ?? '')
  // A server that listens on IPv4 and IPv6 reports IPv4 addresses as IPv6.
  const address = parsed === undefined ? undefined : unmapped(parsed)
  if (address === undefined || !(isPublic(address) || options.locatesPrivate)) return {}
  const { include, lang, timeoutMs = 1_000 } = options
  try {
    const result = await client.locate(address.text, { include, lang, timeoutMs, retries: 0 })
    const { location } = result
    return { geolocation: result, ...(location !== undefined && { location }) }
  } catch (error) {
    options.onError?.(error)
    return {}
  }
}
