import { VISITOR_HEADERS } from '../../../lib/contract/geo/forward-auth.ts'
import { valueAt } from '../../../lib/contract/value-at.ts'
import { writeResult } from '../../../lib/geo/answer/write-result.ts'
import { findCountry } from '../../../lib/geo/place/countries.ts'
import { currentCountryCode } from '../../../lib/geo/place/country-code.ts'
import { ApiError, fieldError } from '../../../lib/parts/errors.ts'
import { isPublic } from '../../../lib/parts/net/public-address.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { Handlers } from '../../context.ts'

export function forwardAuthHandlers({ geo }: Pick<Services, 'geo'>) {
  return {
    authorizeVisitor: ({ query, clientAddress: address, clientIsProxy, now, degraded }) => {
      const lists = { allow: readCountries(query, 'allow'), deny: readCountries(query, 'deny') }
      // Its own address is private, and would pass.
      if (clientIsProxy && (lists.allow ?? lists.deny) !== undefined) {
        throw new ApiError('BAD_REQUEST', 'The proxy does not name its visitor')
      }
      const found =
        address === null ? '' : writeResult(address, geo.find(address), { now, degraded }).json
      const result: unknown = JSON.parse(`{${found}}`)
      if (address === null || isPublic(address)) {
        refuseCountry(valueAt(result, VISITOR_HEADERS['X-Geo-Country'].field), lists)
      }
      return { status: 204, body: undefined, headers: headersOf(result) }
    },
  } satisfies Partial<Handlers>
}

interface Lists {
  /** undefined: all countries. */
  readonly allow: readonly string[] | undefined
  readonly deny: readonly string[] | undefined
}

/** Throws BAD_REQUEST for a code that is no country's: its visitors would never be recognised. */
function readCountries(
  query: { readonly [Name in keyof Lists]?: string | undefined },
  name: keyof Lists,
): string[] | undefined {
  return query[name]?.split(',').map((text) => {
    const code = currentCountryCode(text.toUpperCase())
    if (findCountry(code) !== undefined) return code
    throw fieldError(name, `${JSON.stringify(text)} is no country of ISO 3166-1`)
  })
}

function refuseCountry(country: unknown, { allow, deny }: Lists): void {
  const isListed = (list: readonly string[] = []) => list.some((code) => code === country)
  if (!isListed(deny) && (allow === undefined || isListed(allow))) return
  throw new ApiError(
    'FORBIDDEN',
    country === undefined
      ? 'Visitors whose country is unknown are not let in'
      : `Visitors from ${country} are not let in`,
  )
}

/** Headers are ASCII: names of cities are encoded, and other values that a file has not as ASCII are left out. */
function headersOf(result: unknown): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, { field }] of Object.entries(VISITOR_HEADERS)) {
    const value = valueAt(result, field)
    if (typeof value !== 'string') continue
    const text = name === 'X-Geo-City' ? encodeURIComponent(value.toWellFormed()) : value
    if (/^[!-~]+$/.test(text)) headers[name.toLowerCase()] = text
  }
  return headers
}
