import { createHmac } from 'node:crypto'
import { fetchReasonOf } from '../reason.ts'
import type { Deliver } from './courier.ts'
import type { InquiryRow } from './inquiry-store.ts'

interface InquiryWebhookOptions {
  readonly url: string
  /** `whsec_` and the key in base64. */
  readonly secret: string
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Delivers inquiries in the format of Standard Webhooks. A second copy has the same webhook-id. */
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

/** Returns the status of the answer. The body is not read, and a redirect is not followed. */
async function post(url: string, init: RequestInit): Promise<number> {
  try {
    const response = await fetch(url, { ...init, method: 'POST', redirect: 'manual' })
    await response.body?.cancel()
    return response.status
  } catch (error) {
    throw new Error(`the webhook did not answer: ${fetchReasonOf(error)}`)
  }
}
