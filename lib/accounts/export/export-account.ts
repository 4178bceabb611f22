import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { Header } from 'tar'
import { dateOfDay } from '../../config/period.ts'
import type { Queries } from '../../db/queries.ts'
import { HOUR_MS } from '../../parts/durations.ts'
import { EXPORTED, type ExportedTable } from './tables.ts'

/** The block size of the tar format. */
const BLOCK_BYTES = 512

/** Rows of one file. A file is made in memory. */
const MAX_ROWS = 1_000

export interface ExportOptions {
  readonly userId: string
  /** Epoch milliseconds. */
  readonly now: number
  /** When each key was last used on days that are not over, by its id, in epoch milliseconds. */
  readonly lastUses: ReadonlyMap<string, number>
  /** Called if the export breaks off. */
  readonly onError: (error: unknown) => void
}

/**
 * Everything that is stored about a user, except secrets, as JSON files in a gzipped tar archive. Rejects if the first
 * file cannot be read. Reads the others, a thousand rows at a time, while the archive is sent.
 */
export async function exportAccount(
  reads: Pick<Queries, 'execute'>,
  { userId, now, lastUses, onError }: ExportOptions,
): Promise<ReadableStream<Uint8Array>> {
  const files = listFiles(reads, userId, lastUses)
  const first = await files.next()
  return packFiles(startingWith(first, files), { now, onError })
}

async function* startingWith<Item>(first: IteratorResult<Item, void>, others: AsyncIterable<Item>) {
  if (first.done !== true) yield first.value
  yield* others
}

async function* listFiles(
  reads: Pick<Queries, 'execute'>,
  userId: string,
  lastUses: ReadonlyMap<string, number>,
): AsyncGenerator<PackedFile, void> {
  for (const table of EXPORTED) {
    let number = 0
    const owners = table.owner === 'site_id' ? await listSitesIn(reads, table, userId) : [userId]
    for (const owner of owners) {
      for await (const rows of readPages(reads, table, owner)) {
        number += 1
        const shown = rows.map((row) => withLastUse(row, lastUses))
        const text = `${JSON.stringify(shown, null, 2)}\n`
        yield { name: `${table.name}-${String(number).padStart(4, '0')}.json`, text }
      }
    }
  }
}

/** The sites of the user that have rows in the table: each costs a statement. */
async function listSitesIn(
  { execute }: Pick<Queries, 'execute'>,
  { table }: ExportedTable,
  userId: string,
): Promise<string[]> {
  const sql = `SELECT id FROM sites WHERE user_id = ? AND EXISTS (
    SELECT 1 FROM ${table} WHERE site_id = sites.id)`
  return (await execute({ sql, params: [userId] })).rows.map(([id]) => String(id))
}

type ShownRow = Readonly<Record<string, unknown>>

/** Reads each page from the last key of the page before, so that late pages cost no more than the first. */
async function* readPages(
  { execute }: Pick<Queries, 'execute'>,
  { table, owner, key, columns }: ExportedTable,
  ownerId: string,
): AsyncGenerator<ShownRow[]> {
  const selected = [...columns, ...key].join(', ')
  const keys = key.join(', ')
  let last: readonly unknown[] = []
  for (;;) {
    const after = last.length === 0 ? '' : `AND (${keys}) > (${key.map(() => '?').join(', ')})`
    const sql = `SELECT ${selected} FROM ${table} WHERE ${owner} = ? ${after}
      ORDER BY ${keys} LIMIT ${MAX_ROWS}`
    const { rows } = await execute({ sql, params: [ownerId, ...last] })
    if (rows.length > 0) yield rows.map((row) => toShown(columns, row))
    if (rows.length < MAX_ROWS) return
    last = rows.at(-1)?.slice(columns.length) ?? []
  }
}

function toShown(columns: readonly string[], row: readonly unknown[]): ShownRow {
  return Object.fromEntries(columns.map((name, at) => [name, shownValue(name, row[at])]))
}

/** Ids are unique in the whole database, so only rows of keys have one of these. */
function withLastUse(row: ShownRow, lastUses: ReadonlyMap<string, number>): ShownRow {
  const usedAt = lastUses.get(String(row['id'])) ?? 0
  const before = row['last_used_at'] ?? ''
  const shown = usedAt === 0 ? '' : new Date(usedAt).toISOString()
  return shown > String(before) ? { ...row, last_used_at: shown } : row
}

/** Shows times in ISO 8601, and parses columns that hold JSON. */
function shownValue(name: string, value: unknown): unknown {
  if (typeof value === 'number') return shownNumber(name, value)
  return typeof value === 'string' && STORED_AS_JSON.has(name) ? JSON.parse(value) : value
}

/** A use at 0 is none. */
function shownNumber(name: string, value: number): number | string | null {
  if (name === 'used_at' && value === 0) return null
  if (/(^|_)at$|^period_/.test(name)) return new Date(value).toISOString()
  if (name === 'hour') return new Date(value * HOUR_MS).toISOString()
  return name === 'day' || name === 'month' ? dateOfDay(value) : value
}

const STORED_AS_JSON: ReadonlySet<string> = new Set(['scopes', 'allowed_origins', 'sample'])

interface PackedFile {
  readonly name: string
  readonly text: string
}

interface PackOptions {
  /** The time of all files, in epoch milliseconds. */
  readonly now: number
  readonly onError: (error: unknown) => void
}

/** Packs the files into a gzipped tar archive. Asks for each file once the one before has been read. */
function packFiles(
  files: AsyncIterable<PackedFile>,
  { now, onError }: PackOptions,
): ReadableStream<Uint8Array> {
  const packed = pipeline(Readable.from(toBlocks(files, now)), createGzip(), (error) => {
    if (error && !isClientGone(error)) onError(error)
  })
  // safe: a stream of bytes
  return Readable.toWeb(packed) as ReadableStream<Uint8Array>
}

/** Whether the client has closed the connection. */
function isClientGone(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ERR_STREAM_PREMATURE_CLOSE' || error.code === 'ABORT_ERR'
}

async function* toBlocks(files: AsyncIterable<PackedFile>, now: number): AsyncGenerator<Buffer> {
  for await (const { name, text } of files) {
    const content = Buffer.from(text)
    const head = Buffer.alloc(BLOCK_BYTES)
    const size = content.byteLength
    const mtime = new Date(now)
    new Header({ path: name, size, mtime, mode: 0o600, type: 'File' }).encode(head, 0)
    yield head
    yield content
    yield Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES)
  }
  yield Buffer.alloc(2 * BLOCK_BYTES)
}
