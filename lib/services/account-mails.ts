import { seal, unseal } from '../accounts/sealed.ts'
import { deriveSecret } from '../config/secrets.ts'
import {
  type AccountMailRow,
  type AccountNotice,
  createNotify,
  insertLinkMail,
  type LinkMail,
  type Notify,
  removeOldMails,
} from '../contact/account-mails.ts'
import { accountMailQueue } from '../contact/delivery-queue.ts'
import { startCourier } from '../contact/start-courier.ts'
import { removeUnconfirmed } from '../contact/usage-receivers.ts'
import { runInTransaction, type Statement } from '../db/transaction.ts'
import { HOUR_MS } from '../parts/durations.ts'
import { repeat } from '../parts/repeat.ts'
import type { Foundation } from './foundation.ts'
import { openMailDelivery } from './mail-connection.ts'
import type { Load } from './preload.ts'

export interface LinkOffer {
  readonly user: { readonly id: string; readonly email: string }
  readonly kind: LinkMail
  /** The query of the link, with its secret. */
  readonly query: Readonly<Record<string, string>>
}

/**
 * Mails to users about their accounts. They are stored first, with the secrets of their links encrypted,
 * and sent in the background: so none is lost, and no answer reveals how long sending takes.
 */
export interface AccountMails {
  /** Whether this service sends mail. Without, the methods do nothing. */
  readonly isOn: boolean
  readonly notify: Notify
  /** Queues a notice alone, once what it is about has happened. */
  readonly postNotice: (userId: string, notice: AccountNotice) => Promise<void>
  /** Queues a mail with a link, in one transaction with the statements in `before`. */
  readonly postLink: (offer: LinkOffer, before?: readonly Statement[]) => Promise<void>
  /** Sends what was queued by statements of `lib/contact`, once they are committed. */
  readonly wake: () => void
  /** Sends what is due, even after a failure. */
  readonly retry: () => Promise<void>
  /** Waits some seconds for the mail under way: its server may have taken it already. */
  readonly stop: () => Promise<void>
  readonly load: Load
}

export function openAccountMails(
  foundation: Foundation,
  opening: AsyncDisposableStack,
): AccountMails {
  const { config, secrets, db, baseUrl, stopLinks, now } = foundation
  const key = deriveSecret(secrets, 'account mails')
  const toMessage = async (mail: AccountMailRow, from: string) => {
    const { toAccountMessage } = await import('../contact/account-mail-words.ts')
    const query = mail.link === null ? '' : String(await unseal(key, mail.link))
    return toAccountMessage(mail, query, { from, baseUrl: baseUrl(), stopLinks })
  }
  removeOldRegularly(foundation, opening)
  const delivery = openMailDelivery(config, toMessage, opening)
  const notify = createNotify(db, delivery !== null)
  if (delivery === null) return { ...OFF, notify }
  const mails = {
    queue: accountMailQueue,
    deliver: delivery.deliver,
    one: 'a mail to a user',
    all: 'mails to users',
    lease: 'account mails',
    fields: (mailId: string) => ({ mailId }),
  }
  const courier = startCourier(foundation, mails, opening)
  const post = async (statements: readonly Statement[]) => {
    const [first, ...rest] = statements
    if (first === undefined) return
    try {
      await runInTransaction(db, [first, ...rest])
    } catch (error) {
      // better-auth would answer as if the mail were stored.
      foundation.log.error({ err: error }, 'cannot store a mail to a user')
      throw error
    }
    courier.wake()
  }
  return {
    isOn: true,
    notify,
    postNotice: (userId, notice) => post(notify(userId, notice, now())),
    postLink: async ({ user, kind, query }, before = []) => {
      const link = await seal(key, Buffer.from(String(new URLSearchParams(query))))
      const mail = { userId: user.id, email: user.email, kind, link, now: now() }
      await post([...before, ...insertLinkMail(db, mail)])
    },
    wake: () => courier.wake(),
    retry: () => courier.retry(),
    stop: () => courier.stop(),
    load: async () => {
      await Promise.all([delivery.load(), seal(key, Buffer.alloc(0))])
    },
  }
}

const nothing = async () => {}

/** Without a mail server. */
const OFF = {
  isOn: false,
  postNotice: nothing,
  postLink: nothing,
  wake: () => {},
  retry: nothing,
  stop: nothing,
  load: nothing,
} as const

function removeOldRegularly({ storage, db, log, now }: Foundation, opening: AsyncDisposableStack) {
  const removeOld = async () => {
    await removeOldMails(db, now()).run()
    await removeUnconfirmed(db, now()).run()
  }
  const cleanUp = () => storage.leases.runAlone('mail retention', removeOld, { restMs: HOUR_MS })
  const onError = (error: unknown) => log.error({ err: error }, 'cannot remove old mails')
  cleanUp().catch(onError)
  opening.use(repeat(HOUR_MS, cleanUp, onError))
}
