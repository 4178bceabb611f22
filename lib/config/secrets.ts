import { createHmac, randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { diskAdvice } from '../parts/disk-advice.ts'
import { codeOf, reasonOf, withAdvice } from '../parts/reason.ts'

const Secret = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const Secrets = v.object({
  /** Signs session tokens; all other secrets are derived from it. */
  auth: Secret,
})

/** Names of unfinished files of secrets: `secrets.json.<process id>.<random>`. */
export const UNFINISHED_SECRETS = /^secrets\.json\.(\d+)\.[0-9a-f]{8}$/

export type Secrets = v.InferOutput<typeof Secrets>

/**
 * Reads `secrets.json` in `dataDir`, or creates it on the first start, readable only by its owner.
 * Processes that start at the same time get the same secrets.
 */
export function openSecrets(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets.json')
  return readSecrets(path) ?? createSecrets(path, makeSecrets())
}

/** Makes new secrets. */
export function makeSecrets(): Secrets {
  return { auth: randomBytes(32).toString('hex') }
}

/** Reads `secrets.json` in `dataDir`; null if there is none. */
export function findSecrets(dataDir: string): Secrets | null {
  return readSecrets(join(dataDir, 'secrets.json'))
}

/** Writes `secrets.json` in `dataDir`. Throws if it exists with other secrets. */
export function writeSecrets(dataDir: string, secrets: Secrets): void {
  const path = join(dataDir, 'secrets.json')
  const stored = readSecrets(path) ?? createSecrets(path, secrets)
  if (stored.auth !== secrets.auth) {
    throw new Error(`${path} has other secrets than the database: move it away`)
  }
}

/** Derives a separate secret for each purpose: 32 bytes in hex. */
export function deriveSecret({ auth }: Secrets, purpose: string): string {
  return createHmac('sha256', Buffer.from(auth, 'hex')).update(purpose).digest('hex')
}

function readSecrets(path: string): Secrets | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    const reason = withAdvice(reasonOf(error), diskAdvice(path, error))
    throw new Error(`Cannot read ${path}: ${reason}`, { cause: error })
  }
  // Windows has access lists instead of modes: there, the mode always looks open.
  if (process.getuid !== undefined && (statSync(path).mode & 0o077) !== 0) {
    throw new Error(`Cannot use ${path}: other users can read it; run chmod 600 on it`)
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

/** If another process was faster, the link fails and the file of that process is read. */
function createSecrets(path: string, secrets: Secrets): Secrets {
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
