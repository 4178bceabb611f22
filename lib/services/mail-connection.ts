import type { Config } from '../config/config.ts'
import type { Deliver } from '../contact/courier.ts'
import type { Message } from '../parts/mail.ts'
import { once } from '../parts/once.ts'
import type { Load } from './preload.ts'

/** Makes the message of a row. `from` is the sender. */
type ToMessage<Row> = (row: Row, from: string) => Message | Promise<Message>

/**
 * Returns how a courier delivers rows as mails, over a connection of its own; null if this service sends
 * no mail. The mail package is loaded on first use.
 */
export function openMailDelivery<Row>(
  { smtpUrl: url, mailFrom: from }: Pick<Config, 'smtpUrl' | 'mailFrom'>,
  toMessage: ToMessage<Row>,
  opening: AsyncDisposableStack,
): { readonly deliver: Deliver<Row>; readonly load: Load } | null {
  if (url === undefined) return null
  const closing = opening.use(new DisposableStack())
  const load = once(async () => {
    const { createMailDelivery } = await import('../contact/mail-delivery.ts')
    const { openMailConnection } = await import('../parts/mail.ts')
    const { send } = closing.use(openMailConnection({ url, from }))
    return createMailDelivery(send, (row: Row) => toMessage(row, from))
  })
  return { deliver: async (row, signal) => (await load())(row, signal), load }
}
