import { join } from 'node:path'
import { readKeyText } from '../../access/authenticate.ts'
import { createFindClient } from '../../access/client-address.ts'
import type { Config } from '../../config/config.ts'
import { SECOND_MS } from '../../durations.ts'
import { openGeo } from '../../geo/open-geo.ts'
import type { FastRequest } from '../../http/fast-path/fast-path.ts'
import type { WholeAnswer } from '../../http/write-answer.ts'
import { type BucketPair, createTakeBoth } from '../../limits/buckets/take-both.ts'
import { createThreadBuckets } from '../../limits/buckets/thread-buckets.ts'
import { ThreadBucket, ThreadRows } from '../../limits/buckets/thread-rows.ts'
import { countBelowCap, uncount } from '../../limits/counter.ts'
import { silentLog } from '../../log/log.ts'
import type { Services } from '../services.ts'
import { createNewsCollector } from './news-collector.ts'
import type { News, Permit } from './permits.ts'

/** What a network thread gets when it starts. */
export interface ThreadData {
  readonly config: Pick<Config, 'trustedProxies' | 'clientHeader' | 'dataDir' | 'logLevel' | 'geo'>
  /** The rows that all threads use; absent if this thread may answer no look-ups. */
  readonly rows?: SharedArrayBuffer | undefined
}

type LookUp = (request: FastRequest) => WholeAnswer | null

/** How many different keys a thread may ask about within a second. */
const MAX_WANTED = 1_000

/** Opens what a network thread needs to answer look-ups for which it has permits, as the first thread would. */
export async function openThread({ config, rows: memory }: ThreadData, send: (news: News) => void) {
  const { geo: settings, dataDir } = config
  const geo = await openGeo({
    ...settings,
    directory: join(dataDir, 'geo'),
    onProgress: () => {},
    // The first thread opens the same files, and reports what is wrong with them.
    log: silentLog,
    // The first thread also makes the atlas, which this thread then finds.
    compileAtlas: settings.atlas ? async () => {} : undefined,
  })
  const collector = createNewsCollector(config.logLevel, send)
  const rows = memory === undefined ? undefined : new ThreadRows(memory)
  const permits = createPermits(rows, send)
  const own = createOwnServices(rows, collector)
  // safe: look-ups with a secret key use nothing else
  const services = { ...own.services, config, geo, findClient: createFindClient(config) } as unknown
  return {
    services: services as Services,
    /** Answers the request with `lookUp` if there is a permit for it. */
    answer: (request: FastRequest, lookUp: LookUp): WholeAnswer | null => {
      const held = permits.find(readKeyText((name) => request.headers[name]))
      return held !== null && own.begin(held) ? own.run(request, lookUp) : null
    },
    addPermits: permits.add,
    finish: () => {
      geo[Symbol.dispose]()
      collector.finish()
    },
  }
}

/** A permit, and the buckets in its rows. */
interface HeldPermit {
  readonly permit: Permit
  readonly buckets: BucketPair
}

/** The permits of the current epoch. */
function createPermits(rows: ThreadRows | undefined, send: (news: News) => void) {
  const permits = new Map<string, HeldPermit>()
  /** Keys that the thread has asked about within a second, or is about to. */
  const asked = new Set<string>()
  let wanted: string[] = []
  let epoch = rows?.epoch
  const forgetAsked = setInterval(() => asked.clear(), SECOND_MS)
  forgetAsked.unref()
  const want = (text: string) => {
    if (asked.has(text) || asked.size >= MAX_WANTED) return
    asked.add(text)
    if (wanted.push(text) > 1) return
    setImmediate(() => {
      send({ wanted })
      wanted = []
    })
  }
  const endEpoch = () => {
    epoch = rows?.epoch
    permits.clear()
    asked.clear()
  }
  return {
    add: (added: readonly Permit[]) => {
      for (const permit of added) {
        asked.delete(permit.text)
        if (rows !== undefined && permit.epoch === rows.epoch)
          permits.set(permit.text, hold(permit, rows))
      }
    },
    /** null: there is none, or none yet. */
    find: (text: string | undefined): HeldPermit | null => {
      if (rows === undefined || text === undefined) return null
      if (rows.epoch !== epoch) endEpoch()
      const held = permits.get(text)
      if (held === undefined) want(text)
      else if (isCurrent(held.permit, Date.now())) return held
      else permits.delete(text)
      return null
    },
  }
}

function hold(permit: Permit, rows: ThreadRows): HeldPermit {
  const { own, all } = permit.rows
  const user = { bucket: new ThreadBucket(rows, all) }
  return { permit, buckets: { bucket: new ThreadBucket(rows, own), user } }
}

function isCurrent({ key: { expiresAt }, rows: { until } }: Permit, now: number): boolean {
  return now < until && (expiresAt === null || now < expiresAt)
}

/** The services that a look-up uses. They take from the rows of a permit, and collect what to count. */
function createOwnServices(
  rows: ThreadRows | undefined,
  collector: ReturnType<typeof createNewsCollector>,
) {
  const takeBoth = createTakeBoth(createThreadBuckets(null))
  let held: HeldPermit | null = null
  let isCounted = false
  return {
    services: {
      now: Date.now,
      log: collector.log,
      requestTimes: collector.requestTimes,
      keys: { find: () => held?.permit.key ?? null },
      lastUsed: { touch: () => {} },
      requestCounts: { findCounter: () => collector.requestCounter },
      meters: {
        isShared: false,
        load: () => undefined,
        take: (_: unknown, now: number) =>
          held === null ? null : takeBoth(held.buckets, held.permit.key.plan, now, 1),
        isOverCap: () => false,
        count: () => {
          isCounted = true
        },
      },
    },
    /** Counts a look-up with the permit. Returns false if the first thread must answer: the cap is reached. */
    begin: (given: HeldPermit): boolean => {
      // Counted before the look-up, so that two threads at once cannot exceed the cap.
      if (rows === undefined || !countBelowCap(rows, given.permit.rows.counter)) return false
      held = given
      isCounted = false
      collector.begin(given.permit.key)
      return true
    },
    /** Runs the look-up that `begin` has counted, and takes back the count if the answer does not count. */
    run: (request: FastRequest, lookUp: LookUp): WholeAnswer | null => {
      try {
        return lookUp(request)
      } finally {
        if (!isCounted && rows !== undefined && held !== null) {
          uncount(rows, held.permit.rows.counter)
        }
      }
    },
  }
}
