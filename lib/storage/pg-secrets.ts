import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto'
import { makeSecrets, type Secrets } from '../config/secrets.ts'
import type { PgConnection, PgPool } from '../postgres/connection.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** The name of the row, to which the ciphertext is bound. */
const NAME = 'auth'

/**
 * Reads the secrets that all nodes share, or makes them on the first start. Nodes that start at the same time
 * get the same secrets. They are encrypted with a key derived from `password`. Throws if the first start had
 * another password.
 */
export function openPgSecrets(pool: PgPool, password: string): Promise<Secrets> {
  return pool.use(async (connection) => {
    const known = await readPgSecrets(connection, password)
    if (known !== undefined) return known
    await writePgSecrets(connection, makeSecrets(), password)
    // Another node may have been faster.
    const stored = await readPgSecrets(connection, password)
    if (stored === undefined) throw new Error('the secrets were removed while they were made')
    return stored
  })
}

/** undefined: the database has none. Throws if they were encrypted with another password. */
export async function readPgSecrets(
  connection: PgConnection,
  password: string,
): Promise<Secrets | undefined> {
  const row = await readRow(connection)
  return row && unseal(row, password)
}

/** Stores the secrets, unless the database has some. */
export async function writePgSecrets(
  connection: PgConnection,
  secrets: Secrets,
  password: string,
): Promise<void> {
  const { salt, sealed } = seal(secrets, password)
  await connection.query(
    'INSERT INTO secrets (name, salt, sealed) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [NAME, salt, sealed],
  )
}

interface Sealed {
  readonly salt: Buffer
  /** Nonce, tag and ciphertext. */
  readonly sealed: Buffer
}

async function readRow(connection: PgConnection): Promise<Sealed | undefined> {
  const { rows } = await connection.query('SELECT salt, sealed FROM secrets WHERE name = $1', [
    NAME,
  ])
  const [row] = rows
  // safe: the types of these columns
  return row && { salt: Buffer.from(row[0] as Buffer), sealed: Buffer.from(row[1] as Buffer) }
}

function seal({ auth }: Secrets, password: string): Sealed {
  const salt = randomBytes(SALT_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, deriveKey(password, salt), nonce)
  cipher.setAAD(Buffer.from(NAME))
  const text = Buffer.concat([cipher.update(auth, 'hex'), cipher.final()])
  return { salt, sealed: Buffer.concat([nonce, cipher.getAuthTag(), text]) }
}

function unseal({ salt, sealed }: Sealed, password: string): Secrets {
  const decipher = createDecipheriv(
    CIPHER,
    deriveKey(password, salt),
    sealed.subarray(0, NONCE_BYTES),
    { authTagLength: TAG_BYTES },
  )
  decipher.setAAD(Buffer.from(NAME))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  try {
    const text = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
    return { auth: Buffer.concat([text, decipher.final()]).toString('hex') }
  } catch {
    throw new Error(
      'MERIDIAN_SECRET is not the one that the secrets in it were encrypted with; set the one of the first start',
    )
  }
}

/**
 * Takes a tenth of a second and 32 MB on purpose, because somebody may choose a password that can be
 * guessed.
 */
function deriveKey(password: string, salt: Buffer): Buffer {
  return scryptSync(password, salt, KEY_BYTES, { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 })
}
