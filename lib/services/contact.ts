import { type AuditEvent, insertAudit } from '../accounts/audit.ts'
import { deriveSecret } from '../config/secrets.ts'
import type { Deliver } from '../contact/courier.ts'
import { inquiryQueue } from '../contact/delivery-queue.ts'
import {
  type InquiryRow,
  insertInquiry,
  type NewInquiry,
  newInquiry,
} from '../contact/inquiry-store.ts'
import { removeOldContact } from '../contact/retention.ts'
import { startCourier } from '../contact/start-courier.ts'
import { createTurnstile } from '../contact/turnstile.ts'
import { createDeliverWebhook } from '../contact/webhook.ts'
import type { ContactChallenge } from '../contract/contact.ts'
import { checkWrite } from '../db/open.ts'
import { runInTransaction, type Statement } from '../db/transaction.ts'
import { commandText } from '../parts/clone-or-package.ts'
import { HOUR_MS } from '../parts/durations.ts'
import { once } from '../parts/once.ts'
import { repeat } from '../parts/repeat.ts'
import type { Foundation } from './foundation.ts'
import { openMailDelivery } from './mail-connection.ts'
import type { Load } from './preload.ts'

interface BotCheck {
  /** Whether the answer to the bot check is right. */
  checkBot(answer: string, now: number): Promise<boolean>
  /** Statements that use up a right answer; the first changes nothing if it was already used. */
  useUp(answer: string): Promise<readonly Statement[]>
  /** null if Turnstile makes the challenges. */
  readonly issueChallenge: ((now: number) => Promise<ContactChallenge>) | null
  readonly loadBotCheck: Load
}

interface Delivery {
  readonly deliver: Deliver<InquiryRow> | null
  readonly load: Load
}

/** Statements that are run in the transaction of an inquiry. */
interface Alongside {
  readonly event?: AuditEvent
  readonly before?: readonly Statement[]
}

/** Opens the bot check and the delivery queue of inquiries. */
export function openContact(foundation: Foundation, opening: AsyncDisposableStack) {
  const { storage, db, log, now } = foundation
  const onError = (error: unknown) => log.error({ err: error }, 'cannot remove old inquiries')
  const removeOld = () => removeOldContact(db, now())
  const cleanUp = () => storage.leases.runAlone('inquiry retention', removeOld, { restMs: HOUR_MS })
  cleanUp().catch(onError)
  opening.use(repeat(HOUR_MS, cleanUp, onError))
  const { loadBotCheck, ...botCheck } = openBotCheck(foundation)
  const delivery = chooseDelivery(foundation, opening)
  return {
    ...botCheck,
    queue: openQueue(foundation, delivery.deliver, opening),
    /** Load what is otherwise loaded on first use. */
    loads: [loadBotCheck, delivery.load],
  }
}

function openBotCheck({ config, secrets, db, log }: Foundation): BotCheck {
  if (config.turnstile !== undefined) {
    const onFailure = (reason: string) => log.error({ reason }, 'cannot ask Turnstile')
    const askTurnstile = createTurnstile({ ...config.turnstile, onFailure })
    // Asking Turnstile uses up the token, so first make sure that the inquiry can be stored.
    const checkBot = async (token: string, now: number) => {
      await checkWrite(db, now)
      return askTurnstile(token)
    }
    return { checkBot, useUp: async () => [], issueChallenge: null, loadBotCheck: async () => {} }
  }
  const load = once(async () => {
    const { createProofOfWork } = await import('../contact/proof-of-work.ts')
    const secret = deriveSecret(secrets, 'contact challenge')
    return createProofOfWork({ db, secret, keySecret: deriveSecret(secrets, 'contact solution') })
  })
  return {
    checkBot: async (answer, now) => (await load()).check(answer, now),
    useUp: async (answer) => [(await load()).use(answer)],
    issueChallenge: async (now) => (await load()).issue(now),
    loadBotCheck: load,
  }
}

/** null if inquiries are not configured. */
function openQueue(
  foundation: Foundation,
  deliver: Deliver<InquiryRow> | null,
  opening: AsyncDisposableStack,
) {
  const { db, config } = foundation
  if (config.contact === undefined) return null
  const inquiries = {
    queue: inquiryQueue,
    one: 'an inquiry',
    all: 'inquiries',
    lease: 'inquiries',
    fields: (inquiryId: string) => ({ inquiryId }),
    advice: `${commandText('contact')} shows it`,
  }
  const courier =
    deliver === null ? null : startCourier(foundation, { ...inquiries, deliver }, opening)
  const state = courier === null ? 'kept' : 'waiting'
  return {
    /** null if inquiries are stored but not delivered. */
    courier,
    make: (inquiry: Omit<NewInquiry, 'state'>) => newInquiry({ ...inquiry, state }),
    /**
     * Resolves once the inquiry is stored, together with its audit event, if any, and after the
     * statements in `before`. Returns false and stores nothing if the first of them changes nothing.
     */
    accept: async (inquiry: InquiryRow, { event, before = [] }: Alongside = {}) => {
      const audit = event === undefined ? [] : [insertAudit(db, event)]
      const [first, ...rest] = [...before, insertInquiry(db, inquiry), ...audit]
      const isStored = first !== undefined && (await runInTransaction(db, [first, ...rest]))
      if (isStored) courier?.wake()
      return isStored
    },
  }
}

const NO_DELIVERY = { deliver: null, load: async () => {} }

/** `deliver` is null if inquiries are only stored. */
function chooseDelivery({ config, now }: Foundation, opening: AsyncDisposableStack): Delivery {
  const { contact: target, contactSecret: secret } = config
  if (target === undefined || target.kind === 'store') return NO_DELIVERY
  if (target.kind === 'webhook') {
    const deliver = createDeliverWebhook({ url: target.url, secret, now })
    return { deliver, load: async () => {} }
  }
  const toMessage = async (inquiry: InquiryRow, from: string) => {
    const { toInquiryMessage } = await import('../contact/inquiry-mail.ts')
    return toInquiryMessage(inquiry, { to: target.to, from })
  }
  return openMailDelivery(config, toMessage, opening) ?? NO_DELIVERY
}
