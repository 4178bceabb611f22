import type { Deliver } from './courier.ts'
import type { InquiryRow } from './inquiry-store.ts'
import { createSendWebhook, type WebhookOptions } from './webhook.ts'

/** Delivers inquiries to a webhook. */
export function createDeliverWebhook(options: WebhookOptions): Deliver<InquiryRow> {
  const send = createSendWebhook(options)
  return (inquiry, signal) => send(inquiry.id, toEvent(inquiry), signal)
}

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
