import { parseSystemNumber } from '../../parts/net/system-number.ts'
import type { NetworkOwner } from './finding.ts'
import { asciiJson } from './json-text.ts'

/** The unchecked fields of a network owner in a record. */
export interface RawNetwork extends Partial<Pick<NetworkOwner, 'organization' | 'domain'>> {
  /** 15169, or `AS15169` as text. */
  readonly asn?: number | string | undefined
}

/** The number of a system; 0 if there is none. AS0 has no owner (RFC 7607). */
export function systemNumber(raw: RawNetwork['asn']): number {
  if (typeof raw === 'string') return parseSystemNumber(raw) ?? 0
  return raw !== undefined && raw === raw >>> 0 ? raw : 0
}

/** Returns the usable fields, or undefined if there are none. */
export function toNetworkOwner(raw: RawNetwork): NetworkOwner | undefined {
  const number = systemNumber(raw.asn)
  const asn = number === 0 ? undefined : `AS${number}`
  if (asn === undefined && raw.organization === undefined && raw.domain === undefined) {
    return undefined
  }
  return networkOwner(asn, raw.organization, raw.domain)
}

/** Fills the gaps of `first` from `other`, unless their autonomous systems differ. */
export function mergeOwners(first: NetworkOwner, other: NetworkOwner): NetworkOwner {
  if (first.asn !== undefined && other.asn !== undefined && first.asn !== other.asn) return first
  const adds =
    (first.asn === undefined && other.asn !== undefined) ||
    (first.organization === undefined && other.organization !== undefined) ||
    (first.domain === undefined && other.domain !== undefined)
  if (!adds) return first
  return networkOwner(
    first.asn ?? other.asn,
    first.organization ?? other.organization,
    first.domain ?? other.domain,
  )
}

function networkOwner(
  asn: string | undefined,
  organization: string | undefined,
  domain: string | undefined,
): NetworkOwner {
  return { asn, organization, domain, json: asciiJson({ asn, organization, domain }) }
}
