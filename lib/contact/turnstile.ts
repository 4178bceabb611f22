import * as v from 'valibot'
import { readJson } from '../parse.ts'

export interface TurnstileOptions {
  readonly secretKey: string
  /** Hosts of the pages whose widget counts; empty: all that Cloudflare lets use it. */
  readonly hostnames: readonly string[]
  readonly verifyUrl: string
  /** Told why Cloudflare could not be asked, or does not accept the secret. */
  readonly onTrouble: (reason: string) => void
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 5_000
const MAX_ANSWER_BYTES = 16 * 1024

const Verdict = v.object({
  success: v.boolean(),
  hostname: v.optional(v.string()),
  'error-codes': v.optional(v.array(v.string()), []),
})
type Verdict = v.InferOutput<typeof Verdict>

/** Errors of ours or of Cloudflare, not of who asks. */
const TROUBLE = ['missing-input-secret', 'invalid-input-secret', 'bad-request', 'internal-error']

/**
 * Asks Cloudflare whether a token of its widget is good. Whatever goes wrong, it is not. The
 * address of the client is not told.
 */
export function createTurnstile(options: TurnstileOptions): (token: string) => Promise<boolean> {
  const { hostnames, onTrouble } = options
  return async (token) => {
    try {
      const verdict = await askCloudflare(options, token)
      const trouble = verdict['error-codes'].find((code) => TROUBLE.includes(code))
      if (trouble !== undefined) onTrouble(`it answered ${trouble}`)
      return verdict.success && isOurs(verdict, hostnames)
    } catch (error) {
      onTrouble(reasonOf(error))
      return false
    }
  }
}

async function askCloudflare(
  { secretKey, verifyUrl, timeoutMs = TIMEOUT_MS }: TurnstileOptions,
  token: string,
): Promise<Verdict> {
  const response = await fetch(verifyUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret: secretKey, response: token }),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw new Error(`it answered ${response.status}`)
  }
  const result = v.safeParse(Verdict, await readJson(response, MAX_ANSWER_BYTES))
  if (!result.success) throw new Error('its answer is no verdict')
  return result.output
}

function isOurs({ hostname = '' }: Verdict, hostnames: readonly string[]): boolean {
  return hostnames.length === 0 || hostnames.includes(hostname.toLowerCase())
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message
}
