import { createHmac } from 'node:crypto'
import { fetchReasonOf } from '../parts/reason.ts'
import type { CapNoticeRow } from './cap-notices.ts'
import type { Deliver } from './courier.ts'
import type { InquiryRow } from './inquiry-store.ts'

export interface WebhookOptions {
  readonly url: string
  /** `whsec_` and the key in base64. */
  readonly secret: string
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Delivers inquiries to a webhook. */
export function createDeliverWebhook(options: WebhookOptions): Deliver<InquiryRow> {
  const send = createSendWebhook(options)
  return (inquiry, signal) => send(inquiry.id, inquiryEvent(inquiry), signal)
}

/** Sends notices to the operator's webhook. */
export function createDeliverNoticeEvent(options: WebhookOptions): Deliver<CapNoticeRow> {
  const send = createSendWebhook(options)
  return (notice, signal) => send(notice.id, capNoticeEvent(notice), signal)
}

function inquiryEvent({ id, name, email, company, message, userId, createdAt }: InquiryRow) {
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

function capNoticeEvent(notice: CapNoticeRow): WebhookEvent {
  const { id, userId, email, threshold, requests, amount, currency, createdAt } = notice
  return {
    type: `usage.${threshold}`,
    timestamp: new Date(createdAt).toISOString(),
    data: {
      id,
      userId,
      email,
      requests,
      ...(amount !== null && { spendingCap: amount, currency }),
    },
  }
}

interface WebhookEvent {
  /** Such as inquiry.created. */
  readonly type: string
  /** ISO 8601, UTC. */
  readonly timestamp: string
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Returns a function that sends events in the format of Standard Webhooks. A second copy has the same
 * webhook-id. Throws unless the receiver accepts the event.
 */
function createSendWebhook({ url, secret, now }: WebhookOptions) {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  return async (id: string, event: WebhookEvent, signal: AbortSignal): Promise<void> => {
    const body = JSON.stringify(event)
    const timestamp = Math.floor(now() / 1000)
    const signed = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`)
    const status = await post(url, {
      body,
      signal,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': `v1,${signed.digest('base64')}`,
      },
    })
    if (status < 200 || status > 299) throw new Error(`the webhook answered ${status}`)
  }
}

const SECRET_PREFIX = 'whsec_'

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
