import { BoundedCache } from '../../parts/bounded-cache.ts'
import { MINUTE_MS } from '../../parts/durations.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Log } from '../../parts/log/log.ts'
import { runInSlices } from '../../parts/time-slices.ts'
import type { GeoDatabase } from '../database.ts'
import { PrefixCollector, type Prefixes } from './prefixes.ts'
import { type LookUp, type SystemNetworks, type SystemSummary, summarize } from './summary.ts'
import { walkSystems } from './walk.ts'

/** An autonomous system. */
export interface System extends SystemNetworks {
  readonly summary: SystemSummary
}

interface SystemsOptions {
  /** Returns the open databases, in order of priority. */
  readonly databases: () => readonly GeoDatabase[]
  readonly lookUp: LookUp
  readonly log: Log
  /** Milliseconds of a clock that is never set back. */
  readonly now: () => number
}

/** All prefixes by system. */
interface Index {
  readonly ipv4: Prefixes
  readonly ipv6: Prefixes
  readonly summaries: BoundedCache<number, Promise<SystemSummary>>
}

/** The index takes 12 MB: after so long without a request, it is dropped. */
const UNUSED_MS = 10 * MINUTE_MS
const REMEMBERED_SUMMARIES = 1_000

/** Finds autonomous systems by an index, which the first request makes. */
export function createSystems({ databases, lookUp, log, now }: SystemsOptions) {
  let index: Promise<Index> | undefined
  let usedAt = now()
  const drop = () => {
    index = undefined
  }
  return {
    /**
     * Returns null if no database has a prefix of the system. Throws SERVICE_UNAVAILABLE if a database
     * is damaged.
     */
    find: async (asn: number): Promise<System | null> => {
      usedAt = now()
      index ??= runInSlices(makeIndex(databases())).catch((error) => refuse(log, error))
      const { ipv4, ipv6, summaries } = await index
      const networks = { ipv4: ipv4.of(asn), ipv6: ipv6.of(asn) }
      if (networks.ipv4.length + networks.ipv6.length === 0) return null
      const summary = summaries.get(asn) ?? runInSlices(summarize(networks, lookUp))
      summaries.set(asn, summary)
      return { ...networks, summary: await summary }
    },
    /** Forgets the index. Call this when other databases are served. */
    drop,
    dropIfUnused: () => {
      if (now() - usedAt >= UNUSED_MS) drop()
    },
  }
}

function refuse(log: Log, error: unknown): never {
  log.error({ err: error }, 'cannot list the prefixes of autonomous systems')
  throw new ApiError('SERVICE_UNAVAILABLE', 'Prefixes cannot be listed: a database is damaged')
}

function* makeIndex(databases: readonly GeoDatabase[]): Generator<void, Index> {
  const knowing = databases.filter(({ knowsSystems }) => knowsSystems)
  return {
    ipv4: yield* collect(knowing, 4),
    ipv6: yield* collect(knowing, 6),
    summaries: new BoundedCache(REMEMBERED_SUMMARIES),
  }
}

function* collect(databases: readonly GeoDatabase[], version: 4 | 6): Generator<void, Prefixes> {
  const collector = new PrefixCollector(version)
  const trees = databases.map(({ systems }) => systems(version))
  yield* walkSystems(trees, version, (words, bits, asn) => collector.add(words, bits, asn))
  return yield* collector.finish()
}
