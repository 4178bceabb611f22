import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { request } from 'node:http'
import { endianness } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import * as v from 'valibot'
import { SECOND_MS } from '../parts/durations.ts'
import { reasonOf } from '../parts/reason.ts'

/** How up to date Litestream's copy of the database is. */
export type Replication =
  | {
      /** When the copy last had all that Litestream had read, in epoch milliseconds; 0 if never. */
      readonly syncedAt: number
      /** Bytes of the write-ahead log that Litestream has not read yet. */
      readonly unread: number
    }
  /** Litestream does not answer. */
  | { readonly problem: string }

const ANSWER_MS = 2 * SECOND_MS
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The header of the WAL index; a copy follows it. */
const INDEX_HEADER_BYTES = 48

/** Litestream's control socket: see litestream.yml. */
const socketIn = (dataDir: string) => join(dataDir, 'litestream.sock')

/** Whether Litestream has run in this data folder and has not ended properly. */
export const hasLitestream = (dataDir: string): boolean => existsSync(socketIn(dataDir))

const Databases = v.object({
  databases: v.tuple([
    v.object({ last_sync_at: v.optional(v.pipe(v.string(), v.isoTimestamp())) }),
  ]),
})
const Diagnostics = v.object({
  databases: v.tuple([v.object({ last_synced_wal_offset: v.optional(v.number(), 0) })]),
})

/** Asks the Litestream that copies the database in `dataDir`. */
export async function readReplication(dataDir: string): Promise<Replication> {
  try {
    const list = v.parse(Databases, await ask(dataDir, '/list'))
    const status = v.parse(Diagnostics, await ask(dataDir, '/debug/sync-status'))
    const { last_sync_at: syncedAt } = list.databases[0]
    const { last_synced_wal_offset: read } = status.databases[0]
    return {
      syncedAt: syncedAt === undefined ? 0 : Date.parse(syncedAt),
      unread: Math.max(0, (await logEnd(dataDir)) - read),
    }
  } catch (error) {
    return { problem: reasonOf(error) }
  }
}

function ask(dataDir: string, path: string): Promise<unknown> {
  const signal = AbortSignal.timeout(ANSWER_MS)
  return new Promise((resolve, reject) => {
    request({ socketPath: socketIn(dataDir), path, signal }, (answer) => {
      json(answer).then(resolve, reject)
    })
      .on('error', reject)
      .end()
  })
}

/**
 * The bytes of the write-ahead log that hold committed changes. The file itself may be longer: see
 * https://sqlite.org/walformat.html#the_wal_index_header.
 */
async function logEnd(dataDir: string): Promise<number> {
  await using file = await open(join(dataDir, 'app.db-shm'))
  const { buffer } = await file.read(Buffer.alloc(INDEX_HEADER_BYTES), 0, INDEX_HEADER_BYTES, 0)
  const isLittle = endianness() === 'LE'
  const pageSize = isLittle ? buffer.readUInt16LE(14) : buffer.readUInt16BE(14)
  const frames = isLittle ? buffer.readUInt32LE(16) : buffer.readUInt32BE(16)
  if (frames === 0) return 0
  // 65,536 does not fit into 16 bits; SQLite writes 1.
  const page = pageSize === 1 ? 65_536 : pageSize
  return LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + page)
}
