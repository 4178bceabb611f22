import { createHmac } from 'node:crypto'
import type { Deliver } from './courier.ts'
import type { InquiryRow } from './inquiry.ts'

export interface InquiryWebhookOptions {
  readonly url: string
  /** `whsec_` and the key in base64. */
  readonly secret: string
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Delivers inquiries as Standard Webhooks say. A second copy has the same webhook-id. */
export function createDeliverWebhook({ url, secret, now }: InquiryWebhookOptions): Deliver {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return async (inquiry, signal) => {
    const body = JSON.stringify(toEvent(inquiry))
    const timestamp = Math.floor(now() / 1000)
    const signed = createHmac('sha256', key).update(`${inquiry.id}.${timestamp}.${body}`)
    const status = await post(url, {
      body,
      signal,
      headers: {
        'content-type': 'application/json',
        'webhook-id': inquiry.id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signed.digest('base64')}`,
      },
    })
    if (status < 200 || status > 299) throw new Error(`the webhook answered ${status}`)
  }
}

const SECRET_PREFIX = 'whsec_'

function toEvent({ id, name, email, company, message, userId, createdAt }: InquiryRow) {
  return {
    type: 'inquiry.created',
    timestamp: new Date(createdAt).toISOString(),
    data: {
      id,
      name,
      email,
      ...(company !== null && { company }),
      message,
      ...(userId !== null && { userId }),
    },
  }
}

/** The status of the answer, whose body is not read. A redirect is an answer like any other. */
async function post(url: string, init: RequestInit): Promise<number> {
  try {
    const response = await fetch(url, { ...init, method: 'POST', redirect: 'manual' })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    throw new Error(`the webhook did not answer: ${codeOf(error)}`)
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { cause } = error
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return error.message === 'timeout' ? 'timeout' : error.name
}
