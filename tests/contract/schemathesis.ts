import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as v from 'valibot'

/** The credentials of each user by id, which requests use one after another, and the header that carries them. */
export interface Callers {
  readonly header: 'X-API-Key' | 'Authorization'
  readonly credentials: readonly Readonly<Record<string, string>>[]
}

export interface Run {
  readonly code: number | null
  readonly output: string
  /** Operation id → status → number of answers. */
  readonly statuses: Readonly<Record<string, Readonly<Record<string, number>>>>
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const Statuses = v.record(v.string(), v.record(v.string(), v.number()))

/**
 * Runs schemathesis against all operations in the OpenAPI document of the service at `url`. It sends
 * the same requests in each run: see schemathesis.toml.
 */
export async function runSchemathesis(
  url: string,
  { header, credentials }: Callers,
  options: readonly string[] = [],
): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-schemathesis-'))
  try {
    const report = join(folder, 'statuses.json')
    const env = {
      ...process.env,
      PYTHONPATH: FOLDER,
      PYTHONDONTWRITEBYTECODE: '1',
      SCHEMATHESIS_HOOKS: 'hooks',
      CONFORMANCE: JSON.stringify({ header, credentials, report }),
    }
    const child = spawn('schemathesis', toArguments(url, options), { cwd: folder, env })
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    const texts = [text(child.stdout), text(child.stderr)]
    const [code, output, errors] = await Promise.all([ended, ...texts])
    const statuses = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {}
    return { code, output: `${output}${errors}`, statuses: v.parse(Statuses, statuses) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function toArguments(url: string, options: readonly string[]): string[] {
  const config = ['--config-file', join(FOLDER, 'schemathesis.toml')]
  const document = `${url}/.well-known/openapi.json`
  return [...config, 'run', document, '--url', url, ...options]
}
