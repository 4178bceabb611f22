import { askOneByOne } from '../limits/buckets/ask-store.ts'
import type { Ask, BucketStore, Grant } from '../limits/buckets/bucket-store.ts'
import { CHARGE } from './charge-script.ts'
import type { ValkeyConnection } from './connection.ts'

interface BucketStoreOptions {
  readonly connection: ValkeyConnection
  /** Returns how many nodes are live, as last known. */
  readonly countNodes: () => number
  /** `Date.now`, or a test's clock, which all its nodes share. */
  readonly now: () => number
  readonly onError: (error: unknown, message: string) => void
}

/** Keeps our keys apart from those of other programs on the same server. */
const PREFIX = 'meridian:bucket:'

/** Buckets of all nodes. They refill by the clock of the server, because the clocks of nodes differ. */
export function createValkeyBucketStore(options: BucketStoreOptions): BucketStore {
  const { connection, countNodes, now, onError } = options
  const time = () => (now === Date.now ? undefined : now())
  return {
    charge: askOneByOne(
      (asks) => chargeBuckets(connection, asks, { nodes: countNodes(), time: time() }),
      onError,
    ),
    countNodes,
    now,
  }
}

interface ChargeTerms {
  readonly nodes: number
  /** In epoch milliseconds; undefined: the time of the server. */
  readonly time?: number | undefined
}

/** Charges all buckets in one round trip. */
export async function chargeBuckets(
  connection: ValkeyConnection,
  asks: readonly Ask[],
  { nodes, time }: ChargeTerms,
): Promise<Grant[]> {
  const keys = asks.map(({ id }) => `${PREFIX}${id}`)
  const terms = [time === undefined ? '' : String(time), String(nodes)]
  const answer = await connection.run(CHARGE, keys, [...terms, ...asks.flatMap(toTexts)])
  return toGrants(String(answer), asks.length)
}

function toTexts({ capacity, windowMs, debt, returned, need, want }: Ask): string[] {
  return [capacity, windowMs, debt, returned, need, want].map(String)
}

function toGrants(answer: string, count: number): Grant[] {
  const numbers = answer.split(' ').map(Number)
  if (numbers.length !== 2 * count || numbers.some(Number.isNaN)) {
    throw new Error(`it answers ${JSON.stringify(answer.slice(0, 60))} to a question for requests`)
  }
  return Array.from({ length: count }, (_, at) => ({
    granted: numbers[2 * at] ?? 0,
    spent: numbers[2 * at + 1] ?? 0,
  }))
}
