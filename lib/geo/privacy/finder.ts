import type { Address } from '../../parts/net/address.ts'
import { asMap } from '../mmdb/fields.ts'
import type { Mmdb } from '../mmdb/mmdb.ts'
import { RecordCache } from '../mmdb/record-cache.ts'
import type { Schema } from '../providers/schema.ts'
import { type PrivacyFinding, toPrivacy } from './finding.ts'

/** Small, because there are few different records. */
const CACHE_BITS = 12
const NOTHING_STATED = 'nothing stated'

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
