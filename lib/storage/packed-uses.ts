import type { CallerBucket, KeyUse, OperationUse, UserUse, Uses } from '../db/uses.ts'

/** Uses as a few flat lists, which are copied to another thread much faster than an object for each use. */
export interface PackedUses {
  /** Each text once. In the numbers, a text is its index. */
  readonly texts: readonly string[]
  readonly buckets: Float64Array
  readonly users: Float64Array
  readonly keys: Float64Array
  readonly operations: Float64Array
  /** The notices of users, by index; most users have none. */
  readonly notices: readonly (readonly [user: number, notices: UserUse['notices']])[]
}

/** Numbers of each use. */
const WIDTH = { buckets: 3, users: 6, keys: 2, operations: 7 } as const

/** Numbers a text. */
type ToIndex = (text: string) => number

export function packUses({ buckets, users, keys, operations }: Uses): PackedUses {
  const indexes = new Map<string, number>()
  const toIndex: ToIndex = (text) => {
    const known = indexes.get(text)
    if (known !== undefined) return known
    indexes.set(text, indexes.size)
    return indexes.size - 1
  }
  const numbers = {
    buckets: pack(buckets, WIDTH.buckets, packBucket(toIndex)),
    users: pack(users, WIDTH.users, packUser(toIndex)),
    keys: pack(keys, WIDTH.keys, packKey(toIndex)),
    operations: pack(operations, WIDTH.operations, packOperation(toIndex)),
  }
  const notices = users.flatMap((user, at) =>
    user.notices.length > 0 ? [[at, user.notices] as const] : [],
  )
  return { texts: [...indexes.keys()], ...numbers, notices }
}

/** Writes a use at an index of the list. */
type PackOne<Use> = (use: Use, list: Float64Array, at: number) => void

function pack<Use>(uses: readonly Use[], width: number, packOne: PackOne<Use>): Float64Array {
  const list = new Float64Array(uses.length * width)
  let at = 0
  for (const use of uses) {
    packOne(use, list, at)
    at += width
  }
  return list
}

function packBucket(toIndex: ToIndex): PackOne<CallerBucket> {
  return ({ id, bucket }, list, at) => {
    list[at] = toIndex(id)
    list[at + 1] = bucket.spent
    list[at + 2] = bucket.at
  }
}

function packUser(toIndex: ToIndex): PackOne<UserUse> {
  return ({ userId, periodStart, requests, overage, bucket }, list, at) => {
    list[at] = toIndex(userId)
    list[at + 1] = periodStart
    list[at + 2] = requests
    list[at + 3] = overage
    list[at + 4] = bucket.spent
    list[at + 5] = bucket.at
  }
}

function packKey(toIndex: ToIndex): PackOne<KeyUse> {
  return ({ keyId, usedAt }, list, at) => {
    list[at] = toIndex(keyId)
    list[at + 1] = usedAt
  }
}

function packOperation(toIndex: ToIndex): PackOne<OperationUse> {
  return ({ userId, keyId, day, operation, status, requests, lookUps }, list, at) => {
    list[at] = toIndex(userId)
    list[at + 1] = toIndex(keyId)
    list[at + 2] = day
    list[at + 3] = toIndex(operation)
    list[at + 4] = status
    list[at + 5] = requests
    list[at + 6] = lookUps
  }
}

/** Returns the uses that `packUses` was given. */
export function unpackUses(packed: PackedUses): Uses {
  const notices = new Map(packed.notices)
  const text = (index: number) => packed.texts[index] ?? ''
  return {
    buckets: unpack(packed.buckets, WIDTH.buckets, (next) => ({
      id: text(next()),
      bucket: { spent: next(), at: next() },
    })),
    users: unpack(packed.users, WIDTH.users, (next, at) => ({
      userId: text(next()),
      periodStart: next(),
      requests: next(),
      overage: next(),
      bucket: { spent: next(), at: next() },
      notices: notices.get(at) ?? [],
    })),
    keys: unpack(packed.keys, WIDTH.keys, (next) => ({ keyId: text(next()), usedAt: next() })),
    operations: unpack(packed.operations, WIDTH.operations, (next) => ({
      userId: text(next()),
      keyId: text(next()),
      day: next(),
      operation: text(next()),
      status: next(),
      requests: next(),
      lookUps: next(),
    })),
  }
}

/** Calls `unpackOne` for each use, with a function that returns its next number. */
function unpack<Use>(
  list: Float64Array,
  width: number,
  unpackOne: (next: () => number, at: number) => Use,
): Use[] {
  let position = 0
  const next = () => list[position++] ?? 0
  return Array.from({ length: list.length / width }, (_, at) => unpackOne(next, at))
}
