import { ApiError } from '../../lib/errors.ts'
import type { SendApi } from '../../lib/mcp/api-request.ts'
import { fetchReasonOf } from '../../lib/reason.ts'

export interface Server {
  /** Without a slash at its end. */
  readonly url: string
  readonly key: string
}

interface Given {
  readonly url?: string | undefined
  readonly key?: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns null if neither the options nor the environment name a server. Never shows the key. */
export function readServer(given: Given, env: Environment, usage: string): Server | null {
  const url = given.url ?? (env['MERIDIAN_URL'] || undefined)
  const key = given.key ?? (env['MERIDIAN_KEY'] || undefined)
  if (url === undefined && key === undefined) return null
  const problem = problemOf(url, key)
  if (problem !== undefined) throw new Error(`${problem}\n\n${usage}`)
  return { url: String(url).replace(/\/+$/, ''), key: String(key) }
}

function problemOf(url: string | undefined, key: string | undefined): string | undefined {
  if (url === undefined) return 'A key needs --url or MERIDIAN_URL'
  if (key === undefined) return 'A server needs MERIDIAN_KEY or --key'
  if (!/^[!-~]+$/.test(key)) return 'The key contains characters that no key contains'
  if (!/^https?:\/\/[^@?#]+$/.test(url) || !URL.canParse(url)) {
    return 'The URL must be an address such as https://geo.example'
  }
  return undefined
}

const TIMEOUT_MS = 30_000

/** Sends requests to the API of a server, with the key. */
export function sendTo({ url, key }: Server): SendApi {
  return async ({ row, path, body }, signal) => {
    try {
      return await fetch(`${url}${path}`, {
        method: row.method.toUpperCase(),
        headers: {
          'x-api-key': key,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // A redirect could take the key elsewhere.
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      })
    } catch (error) {
      throw new ApiError('SERVICE_UNAVAILABLE', `Cannot reach ${url}: ${fetchReasonOf(error)}`)
    }
  }
}
