import { PRIVACY_FIELDS, type Privacy, type PrivacyField } from '../../contract/geo/privacy.ts'
import type { Address } from '../../parts/net/address.ts'
import { asMap } from '../mmdb/fields.ts'
import type { Mmdb } from '../mmdb/mmdb.ts'
import { RecordCache } from '../mmdb/record-cache.ts'
import type { Schema } from '../providers/schema.ts'

/** Small, because there are few different records. */
const CACHE_BITS = 12
const NOTHING_STATED = 'nothing stated'

/** What databases state about how an address hides who uses it. */
export interface PrivacyFinding {
  /** Fields that no database states are absent. */
  readonly privacy: Privacy
  /** Providers of the data in `privacy`, in order of priority. */
  readonly sources: readonly string[]
}

/**
 * Joins what several databases state, in order of priority. A flag is true if one says so; otherwise the
 * first value counts. Returns undefined if none states anything.
 */
export function joinFindings(findings: readonly PrivacyFinding[]): PrivacyFinding | undefined {
  const [first] = findings
  if (findings.length <= 1) return first
  const privacy = toPrivacy((field) => {
    const stated = findings.flatMap((finding) => finding.privacy[field] ?? [])
    return stated.includes(true) || stated[0]
  })
  if (privacy === undefined) return undefined
  const contributing = findings.filter((finding) => sharesField(finding.privacy, privacy))
  return { privacy, sources: [...new Set(contributing.flatMap(({ sources }) => sources))] }
}

/**
 * Returns a function that finds what the record of an address states about privacy. Caches findings by
 * the offset of their record. A damaged record states nothing.
 */
export function createPrivacyFinder(mmdb: Mmdb, schema: Schema, provider: string) {
  if (schema.privacy === undefined) return () => undefined
  const findings = new RecordCache<PrivacyFinding | typeof NOTHING_STATED>(CACHE_BITS)
  const read = (offset: number): PrivacyFinding | typeof NOTHING_STATED => {
    try {
      const record = asMap(mmdb.decode(offset))
      const privacy = schema.privacy && toPrivacy(schema.privacy(record))
      if (privacy === undefined) return NOTHING_STATED
      return { privacy, sources: schema.privacySources?.(record) ?? [provider] }
    } catch {
      return NOTHING_STATED
    }
  }
  return (address: Address): PrivacyFinding | undefined => {
    const offset = mmdb.find(address)
    if (offset === 0) return undefined
    const known = findings.get(offset)
    const finding = known ?? read(offset)
    if (known === undefined) findings.offer(offset, finding)
    return finding === NOTHING_STATED ? undefined : finding
  }
}

type Value = boolean | string | undefined

/** The fields that have a value, in the order of the contract; undefined if none has. */
function toPrivacy(valueFor: (field: PrivacyField) => Value): Privacy | undefined {
  const fields = PRIVACY_FIELDS.flatMap((field) => {
    const value = valueFor(field)
    return value === undefined ? [] : [[field, value]]
  })
  // safe: the callers give each field a value of its type
  return fields.length === 0 ? undefined : (Object.fromEntries(fields) as Privacy)
}

function sharesField(some: Privacy, all: Privacy): boolean {
  return PRIVACY_FIELDS.some((field) => some[field] !== undefined && some[field] === all[field])
}
