import type { CapNoticeRow } from './cap-notices.ts'
import type { Deliver } from './courier.ts'
import { createSendWebhook, type WebhookEvent, type WebhookOptions } from './webhook.ts'

/** Sends notices to the operator's webhook. */
export function createDeliverNoticeEvent(options: WebhookOptions): Deliver<CapNoticeRow> {
  const send = createSendWebhook(options)
  return (notice, signal) => send(notice.id, toEvent(notice), signal)
}

function toEvent(notice: CapNoticeRow): WebhookEvent {
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
