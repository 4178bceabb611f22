import { createHmac, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'

const Secret = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const Secrets = v.object({
  /** Signs session tokens; others are derived from it. */
  auth: Secret,
})

export type Secrets = v.InferOutput<typeof Secrets>

/**
 * Reads `secrets.json` in `dataDir`, and makes it on the first start. Only the owner may read it.
 * Two processes that start at once get the same secrets.
 */
export function openSecrets(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets.json')
  return readSecrets(path) ?? createSecrets(path)
}

/** A secret of its own for each purpose, so that none is ever used for two. Hex, 32 bytes. */
export function deriveSecret({ auth }: Secrets, purpose: string): string {
  return createHmac('sha256', Buffer.from(auth, 'hex')).update(purpose).digest('hex')
}

function readSecrets(path: string): Secrets | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw new Error(`Cannot read ${path}`, { cause: error })
  }
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new Error(`Cannot use ${path}: others may read it; run chmod 600 on it`)
  }
  return parseSecrets(path, text)
}

function parseSecrets(path: string, text: string): Secrets {
  try {
    return v.parse(Secrets, JSON.parse(text))
  } catch {
    throw new Error(`Cannot use ${path}: it is damaged; restore it from a backup or delete it`)
  }
}

/** The link fails where another process was faster, whose file is then read. */
function createSecrets(path: string): Secrets {
  const secrets: Secrets = { auth: randomBytes(32).toString('hex') }
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(temporary, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(temporary, path)
    return secrets
  } catch (error) {
    const faster = readSecrets(path)
    if (faster === null) throw error
    return faster
  } finally {
    rmSync(temporary)
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
