import { type CapNoticeRow, type Channel, insertCapNotices } from '../contact/cap-notices.ts'
import type { Courier, Deliver } from '../contact/courier.ts'
import { noticeQueue } from '../contact/delivery-queue.ts'
import { startCourier } from '../contact/start-courier.ts'
import { findById } from '../contact/usage-receivers.ts'
import { createDeliverNoticeEvent } from '../contact/webhook.ts'
import { APP_PATH } from '../contract/pages.ts'
import type { CapNotice } from '../db/ledger/notices.ts'
import type { Query } from '../parts/sql.ts'
import type { Foundation } from './foundation.ts'
import { openMailDelivery } from './mail-connection.ts'

/** Delivers notices that users have reached a limit: to them, and to the operator's webhook. */
export type CapNotices = ReturnType<typeof openCapNotices>

/** Opens the channels that are configured: with a mail server `mail`, with a webhook `webhook`. */
export function openCapNotices(foundation: Foundation, opening: AsyncDisposableStack) {
  const { db, now } = foundation
  const couriers = new Map<Channel, Courier<CapNoticeRow>>()
  const open = (channel: Channel, deliver: Deliver<CapNoticeRow> | null) => {
    if (deliver === null) return
    const notices = {
      queue: noticeQueue(channel),
      deliver,
      one: 'a notice',
      all: 'notices',
      lease: `notices by ${channel}`,
      fields: (noticeId: string) => ({ noticeId, channel }),
    }
    couriers.set(channel, startCourier(foundation, notices, opening))
  }
  const toMessage = async (notice: CapNoticeRow, from: string) => {
    const { toNoticeMessage } = await import('../contact/cap-notice-mail.ts')
    const app = `${foundation.baseUrl()}${APP_PATH}`
    return toNoticeMessage(notice, { from, app, stopUrl: await stopUrlOf(foundation, notice) })
  }
  open('mail', openMailDelivery(foundation.config, toMessage, opening)?.deliver ?? null)
  open('webhook', openWebhook(foundation))
  return {
    /** The statements that queue the notice on each channel. */
    queue: (notice: CapNotice): Query[] =>
      [...couriers.keys()].flatMap((channel) =>
        insertCapNotices(db, notice, { channel, now: now() }).map((statement) => statement.toSQL()),
      ),
    /** Whether the channel is configured. */
    delivers: (channel: Channel) => couriers.has(channel),
    wake: () => {
      for (const courier of couriers.values()) courier.wake()
    },
    /** Delivers what is due, even after a failure. */
    retry: async () => {
      await Promise.all([...couriers.values()].map((courier) => courier.retry()))
    },
    /** Lets running deliveries finish. */
    stop: async () => {
      await Promise.all([...couriers.values()].map((courier) => courier.stop()))
    },
  }
}

/** null: the notice is to the user. */
async function stopUrlOf(
  { db, stopLinks }: Foundation,
  { receiverId: id, userId }: CapNoticeRow,
): Promise<string | null> {
  if (id === null) return null
  // If the receiver has just been removed, the link of this last mail says that the mails are stopped.
  const since = (await findById(db, id))?.confirmedAt ?? 0
  return stopLinks.urlOf({ kind: 'usage', id, userId, since })
}

function openWebhook({ config, now }: Foundation): Deliver<CapNoticeRow> | null {
  const { contact: target, contactSecret: secret } = config
  if (target?.kind !== 'webhook') return null
  return createDeliverNoticeEvent({ url: target.url, secret, now })
}
