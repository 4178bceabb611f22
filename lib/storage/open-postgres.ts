import type { PostgresConfig } from '../config/config.ts'
import type { Secrets } from '../config/secrets.ts'
import { SECOND_MS } from '../parts/durations.ts'
import { checkNotices } from '../postgres/check-notices.ts'
import { explainStart, requireUsableDatabase } from '../postgres/check-server.ts'
import { nameDatabase, openPool } from '../postgres/pool.ts'
import { openPgStorage } from './open-pg-storage.ts'
import { openPgSecrets } from './pg-secrets.ts'
import type { Storage, StorageOptions } from './storage.ts'

/** The most connections of a node, besides three for quick statements and one that listens. */
const MAX_CONNECTIONS = 10

export interface OpenPostgresOptions extends Pick<StorageOptions, 'now' | 'onError'> {
  /** The version of the release. */
  readonly version: string
}

/** What all nodes share. */
export interface Postgres extends AsyncDisposable {
  readonly storage: Storage
  readonly secrets: Secrets
}

/**
 * Connects to the database that the configuration names, checks it, and opens it. Throws an error that names
 * the database, without the password, and says what to do.
 */
export async function openPostgres(
  config: PostgresConfig,
  options: OpenPostgresOptions,
): Promise<Postgres> {
  try {
    return await open(config, options)
  } catch (cause) {
    throw new Error(`Cannot use ${nameDatabase(config.url)}: ${explainStart(cause)}`, { cause })
  }
}

async function open(
  { url, secret, staleKeysSeconds }: PostgresConfig,
  { version, now, onError }: OpenPostgresOptions,
): Promise<Postgres> {
  await using opening = new AsyncDisposableStack()
  const pool = opening.use(
    openPool({
      url,
      max: MAX_CONNECTIONS,
      name: 'meridian',
      onError: (error) => onError(error, 'a connection to PostgreSQL was lost'),
    }),
  )
  await requireUsableDatabase(pool)
  const staleKeysMs = staleKeysSeconds * SECOND_MS
  const storage = opening.use(await openPgStorage({ pool, version, staleKeysMs, now, onError }))
  const secrets = await openPgSecrets(pool, secret)
  opening.use(checkNotices(pool, () => onError(new Error(POOLER), MISSING)))
  const opened = opening.move()
  return { storage, secrets, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const MISSING = 'the notices of changed keys do not arrive; this server asks once a second'
const POOLER = 'use no pooler, or one in session mode'
