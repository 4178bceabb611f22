import type { Mmdb } from '../mmdb/mmdb.ts'
import type { SystemTree } from './walk.ts'

/** Returns the number of the autonomous system that the record at an offset names; 0 if none. */
export type ReadAsn = (offset: number) => number

/** The cache has 2^bits slots: many networks have the same record. */
const CACHE_BITS = 17

export function createSystemTree(mmdb: Mmdb, version: 4 | 6, readAsn: ReadAsn): SystemTree {
  const offsets = new Uint32Array(2 ** CACHE_BITS)
  const asns = new Uint32Array(2 ** CACHE_BITS)
  return {
    ...mmdb.branches(version),
    asn: (record) => {
      const offset = mmdb.offsetOf(record)
      if (offset === 0) return 0
      // Fibonacci hashing spreads neighbouring offsets.
      const slot = Math.imul(offset, 0x9e3779b1) >>> (32 - CACHE_BITS)
      if (offsets[slot] !== offset) {
        offsets[slot] = offset
        asns[slot] = readAsn(offset)
      }
      return asns[slot] ?? 0
    },
  }
}
