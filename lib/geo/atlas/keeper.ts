import { HOUR_MS, MINUTE_MS } from '../../parts/durations.ts'
import type { Address } from '../../parts/net/address.ts'
import type { LookupResult } from '../answer/write-result.ts'
import type { SourceFile } from '../files/source-files.ts'
import type { Atlas } from './atlas.ts'

export type AtlasKeeper = ReturnType<typeof createAtlasKeeper>

interface AtlasKeeperOptions {
  /** Returns null if the atlas has not been made. */
  readonly findAtlas: (files: readonly SourceFile[]) => Promise<Atlas | null>
  /**
   * Makes the atlas, which takes much memory. Called once per set of files, and again later if that
   * fails or the atlas cannot be opened; never while another call is running.
   */
  readonly make: () => Promise<void>
  /** `make` failed, and is called again after `waitMs`. */
  readonly onFailure: (error: unknown, waitMs: number) => void
  /** Milliseconds of a clock that is never set back. */
  readonly now?: () => number
}

const FIRST_WAIT_MS = MINUTE_MS
const LONGEST_WAIT_MS = 6 * HOUR_MS

/** Holds the atlas of the files that are being served, once it has been made. */
export function createAtlasKeeper(options: AtlasKeeperOptions) {
  const { findAtlas, make, onFailure, now = () => performance.now() } = options
  let atlas: Atlas | null = null
  let nextAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let isMaking = false
  const tryToMake = async () => {
    isMaking = true
    nextAt = Number.POSITIVE_INFINITY
    let waitMs = LONGEST_WAIT_MS
    try {
      await make()
    } catch (error) {
      waitMs = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS)
      failures += 1
      onFailure(error, waitMs)
    } finally {
      // If the files have changed meanwhile, the next call is due already.
      nextAt = Math.min(nextAt, now() + waitMs)
      isMaking = false
    }
  }
  return {
    /** Returns undefined if the atlas has not been made or the address is IPv6. */
    find: (address: Address): LookupResult | undefined =>
      address.version === 4 ? atlas?.find(address.bits) : undefined,
    /** See `Atlas`. Also returns undefined if `find` does. */
    matchedBits: (address: Address): number | undefined =>
      address.version === 4 ? atlas?.matchedBits(address.bits) : undefined,
    /** Whether there is an atlas of the files that are being served. */
    isOpen: () => atlas !== null,
    /** Forgets the atlas. Call this when other files are served. */
    drop: () => {
      atlas = null
      nextAt = Number.NEGATIVE_INFINITY
      failures = 0
    },
    /** Opens the atlas of these files; if there is none, starts making it. */
    adopt: async (files: readonly SourceFile[]) => {
      if (atlas !== null) return
      atlas = await findAtlas(files)
      if (atlas === null && !isMaking && now() >= nextAt) void tryToMake()
    },
  }
}
