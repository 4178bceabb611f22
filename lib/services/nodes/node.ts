import { join } from 'node:path'
import { readKeyText } from '../../access/authenticate.ts'
import { createFindClient } from '../../access/client-address.ts'
import type { Config } from '../../config/config.ts'
import { SECOND_MS } from '../../durations.ts'
import { openGeo } from '../../geo/open-geo.ts'
import type { FastRequest } from '../../http/fast-path/fast-path.ts'
import type { WholeAnswer } from '../../http/write-answer.ts'
import { createSharedBuckets } from '../../limits/buckets/shared-buckets.ts'
import { SharedBucket, SharedRows } from '../../limits/buckets/shared-rows.ts'
import { takeBoth } from '../../limits/buckets/take-both.ts'
import { countBelowCap, uncount } from '../../limits/counter.ts'
import { planRate, userRate } from '../../limits/metered.ts'
import { silentLog } from '../../log/log.ts'
import type { Services } from '../services.ts'
import { createNotes } from './notes.ts'
import type { News, Permit } from './permits.ts'

/** What a network thread gets when it starts. */
export interface NodeData {
  readonly config: Pick<Config, 'trustedProxies' | 'clientHeader' | 'dataDir' | 'logLevel' | 'geo'>
  /** The rows that threads share; absent if this thread may answer no look-ups. */
  readonly rows?: SharedArrayBuffer | undefined
}

type LookUp = (request: FastRequest) => WholeAnswer | null

/** How many different keys a thread may ask about within a second. */
const MOST_WANTED = 1_000

/**
 * Opens what a network thread needs to answer look-ups for which it has permits, as the first thread would.
 */
export async function openNode({ config, rows: memory }: NodeData, send: (news: News) => void) {
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
  const notes = createNotes(config.logLevel, send)
  const rows = memory === undefined ? undefined : new SharedRows(memory)
  const permits = createPermits(rows, send)
  const own = createOwnServices(rows, notes)
  // safe: look-ups with a secret key use nothing else
  const services = { ...own.services, config, geo, findClient: createFindClient(config) } as unknown
  return {
    services: services as Services,
    /** Answers the request with `lookUp` if there is a permit for it. */
    answer: (request: FastRequest, lookUp: LookUp): WholeAnswer | null => {
      const permit = permits.find(readKeyText((name) => request.headers[name]))
      return permit === null ? null : own.use(permit, () => lookUp(request))
    },
    addPermits: permits.add,
    finish: () => {
      geo[Symbol.dispose]()
      notes.finish()
    },
  }
}

/** The permits of the current epoch. */
function createPermits(rows: SharedRows | undefined, send: (news: News) => void) {
  const permits = new Map<string, Permit>()
  /** Keys that the thread has asked about within a second, or is about to. */
  const asked = new Set<string>()
  let wanted: string[] = []
  let epoch = rows?.epoch
  const forgetAsked = setInterval(() => asked.clear(), SECOND_MS)
  forgetAsked.unref()
  const want = (text: string) => {
    if (asked.has(text) || asked.size >= MOST_WANTED) return
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
        if (permit.epoch === rows?.epoch) permits.set(permit.text, permit)
      }
    },
    /** null: there is none, or none yet. */
    find: (text: string | undefined): Permit | null => {
      if (rows === undefined || text === undefined) return null
      if (rows.epoch !== epoch) endEpoch()
      const permit = permits.get(text)
      if (permit === undefined) want(text)
      else if (isCurrent(permit, Date.now())) return permit
      else permits.delete(text)
      return null
    },
  }
}

function isCurrent({ key: { expiresAt }, rows: { until } }: Permit, now: number): boolean {
  return now < until && (expiresAt === null || now < expiresAt)
}

/** The services that a look-up uses. They take from the permit's shared rows, and note what to count. */
function createOwnServices(rows: SharedRows | undefined, notes: ReturnType<typeof createNotes>) {
  const buckets = createSharedBuckets(null)
  let permit: Permit | null = null
  let isCounted = false
  const take = (_: unknown, now: number) => {
    if (rows === undefined || permit === null) return null
    const { own, all } = permit.rows
    const { plan } = permit.key
    const sizes = {
      all: { bucket: new SharedBucket(rows, all), rate: userRate(plan) },
      own: { bucket: new SharedBucket(rows, own), rate: planRate(plan) },
    }
    return takeBoth(buckets, sizes, now, 1)
  }
  return {
    services: {
      now: Date.now,
      log: notes.log,
      requestTimes: notes.requestTimes,
      keys: { find: () => permit?.key ?? null },
      lastUsed: { touch: () => {} },
      requestCounts: { findSender: () => notes.sender },
      meters: {
        isShared: false,
        load: () => undefined,
        take,
        isOverCap: () => false,
        count: () => {
          isCounted = true
        },
      },
    },
    /**
     * Runs a look-up with the permit. null: the first thread must answer, such as when the cap is reached.
     */
    use: (given: Permit, lookUp: () => WholeAnswer | null): WholeAnswer | null => {
      const { counter } = given.rows
      // Counted before the look-up, so that two threads at once cannot exceed the cap.
      if (rows === undefined || !countBelowCap(rows, counter)) return null
      permit = given
      isCounted = false
      notes.begin(given.key)
      try {
        return lookUp()
      } finally {
        if (isCounted) notes.count()
        else uncount(rows, counter)
      }
    },
  }
}
