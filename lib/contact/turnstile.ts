import * as v from 'valibot'
import type { TurnstileConfig } from '../config/config.ts'
import { readJson } from '../parts/parse.ts'
import { fetchReasonOf } from '../parts/reason.ts'

interface TurnstileOptions extends TurnstileConfig {
  /** Called with the reason when Cloudflare gives no valid answer or refuses the secret. */
  readonly onFailure: (reason: string) => void
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

/** Error codes that the visitor does not cause, but we or Cloudflare do. */
const OUR_ERRORS = ['missing-input-secret', 'invalid-input-secret', 'bad-request', 'internal-error']

/**
 * Asks Cloudflare whether a token of its widget is valid; false if Cloudflare gives no answer. Does
 * not send the address of the client.
 */
export function createTurnstile(options: TurnstileOptions): (token: string) => Promise<boolean> {
  const { hostnames, onFailure } = options
  return async (token) => {
    try {
      const verdict = await askCloudflare(options, token)
      const ours = verdict['error-codes'].find((code) => OUR_ERRORS.includes(code))
      if (ours !== undefined) onFailure(`it answered ${ours}`)
      return verdict.success && isOurs(verdict, hostnames)
    } catch (error) {
      onFailure(fetchReasonOf(error))
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
  if (!result.success) throw new Error('its answer is not a verdict')
  return result.output
}

function isOurs({ hostname = '' }: Verdict, hostnames: readonly string[]): boolean {
  return hostnames.length === 0 || hostnames.includes(hostname.toLowerCase())
}
