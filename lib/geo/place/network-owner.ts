import type { NetworkOwner } from './finding.ts'
import { field, objectOf } from './json-text.ts'

/** The fields of a network as a record has them. */
export interface RawNetwork {
  /** 15169, or `AS15169` as text. */
  readonly asn?: number | string | undefined
  readonly organization?: string | undefined
  readonly domain?: string | undefined
}

/** Returns what is usable, or undefined where nothing is. AS0 is nobody (RFC 7607). */
export function toNetworkOwner(raw: RawNetwork): NetworkOwner | undefined {
  const digits = /^(?:AS)?(\d{1,10})$/i.exec(String(raw.asn ?? ''))?.[1]
  const asn = digits === undefined || Number(digits) === 0 ? undefined : `AS${Number(digits)}`
  if (asn === undefined && raw.organization === undefined && raw.domain === undefined) {
    return undefined
  }
  return networkOwner(asn, raw.organization, raw.domain)
}

/** `first`, with what it lacks from `other` if that is of the same autonomous system. */
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
  const fields = [field('asn', asn), field('organization', organization), field('domain', domain)]
  return { asn, organization, domain, json: objectOf(fields) }
}
