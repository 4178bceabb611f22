import { saveErrors } from './error-groups.ts'
import type { Measures } from './measures.ts'
import { inUnit, VITALS } from './metrics.ts'
import type { PathDay, SiteDay } from './path-days.ts'
import { Pool } from './pool.ts'
import { type Row, toStored } from './row.ts'
import { type HourRow, rowName, type SiteRows } from './site-rows.ts'
import type { Columns, DayKey, RowSource, RumStore } from './store.ts'

/**
 * What is to be written of one site. It is encoded a row at a time, between which others may run,
 * and written in one transaction then, together with the end of its entries in the journal.
 */
export class SiteWrite {
  readonly #store: RumStore
  readonly #rows: SiteRows
  readonly #encoding: Generator<Write>
  readonly #writes: Write[] = []

  /** Takes the rows over: nothing may be added to them any more. */
  constructor(store: RumStore, rows: SiteRows) {
    this.#store = store
    this.#rows = rows
    this.#encoding = encode(store, rows)
  }

  get rows(): SiteRows {
    return this.#rows
  }

  /** Encodes until `end`, in monotonic milliseconds. Returns whether all is encoded. */
  prepare(end: number): boolean {
    do {
      const { done, value } = this.#encoding.next()
      if (done === true) return true
      this.#writes.push(value)
    } while (performance.now() < end)
    return false
  }

  /** To be called in a transaction; again, where that has failed. */
  write(): void {
    this.prepare(Number.POSITIVE_INFINITY)
    for (const write of this.#writes) write()
    this.#store.removeEntries(this.#rows.siteId, this.#rows.lastId)
  }

  /** What is stored once this is written: what comes after it begins with that. */
  source(): RowSource {
    const { hours, days, paths, errors } = this.#rows
    const store = this.#store
    const stored = (row: Row | undefined) =>
      row === undefined || row.samples === 0 ? undefined : toStored(row)
    return {
      findHour: (key) => stored(hours.get(rowName(key))) ?? store.findHour(key),
      findDay: (key) => stored(days.get(rowName({ ...key, hour: key.day }))) ?? store.findDay(key),
      listPaths: (siteId, day) => paths.get(day)?.names ?? store.listPaths(siteId, day),
      findPath: (siteId, day, path) =>
        stored(paths.get(day)?.rows.get(path)) ?? store.findPath(siteId, day, path),
      listErrorHashes: (siteId, hour) =>
        errors.get(hour)?.hashes ?? store.listErrorHashes(siteId, hour),
    }
  }

  /** To be called once it is committed: from then on the database has it. */
  forget(): void {
    const { hours, days, paths, errors } = this.#rows
    for (const map of [hours, days, paths, errors]) map.clear()
  }
}

type Write = () => void

function* encode(store: RumStore, rows: SiteRows): Generator<Write> {
  const { siteId, hours, days, paths, errors, counts } = rows
  for (const row of hours.values()) {
    if (row.samples > 0) yield encodeHour(store, row)
  }
  for (const row of days.values()) {
    if (row.samples > 0) yield encodeDay(store, row)
  }
  for (const [day, pages] of paths) yield* encodePages(store, { siteId, day }, pages)
  for (const [hour, groups] of errors) yield () => saveErrors(store, { siteId, hour }, groups)
  for (const { hour, ...counter } of counts.values()) {
    yield () => store.addCount(siteId, hour, counter)
  }
}

function encodeHour(store: RumStore, row: HourRow): Write {
  const [columns, stored] = [toColumns(row.measures), toStored(row)]
  return () => store.saveHour(row, columns, stored)
}

function encodeDay(store: RumStore, row: DayKey & Row): Write {
  const stored = toStored(row)
  return () => store.saveDay(row, stored)
}

function* encodePages(store: RumStore, { siteId, day }: SiteDay, { rows }: PathDay) {
  for (const [path, row] of rows) {
    if (row.samples === 0) continue
    const stored = toStored(row)
    yield () => store.savePath(siteId, day, path, stored)
  }
}

const SHARES = [0.5, 0.75, 0.95]

export function toColumns(measures: Measures): Columns {
  return VITALS.flatMap((vital) => {
    const pool = new Pool()
    const measure = measures[vital]
    if (measure !== undefined) pool.add(measure)
    const found = pool.percentiles(SHARES)
    return SHARES.map((_, at) => inUnit(vital, found[at]))
  })
}
