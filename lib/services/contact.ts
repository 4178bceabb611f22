import { type AuditEvent, insertAudit } from '../accounts/audit.ts'
import { Courier, type Deliver } from '../contact/courier.ts'
import { type InquiryRow, type NewInquiry, newInquiry } from '../contact/inquiry.ts'
import { insertInquiry } from '../contact/inquiry-store.ts'
import { createDeliverWebhook } from '../contact/inquiry-webhook.ts'
import { removeOldContact } from '../contact/retention.ts'
import { createTurnstile } from '../contact/turnstile.ts'
import type { ContactTarget } from '../contact-target.ts'
import type { ContactChallenge } from '../contract/contact.ts'
import { unit } from '../db/unit.ts'
import type { MailOptions } from '../mail.ts'
import { repeat } from '../periodic.ts'
import { deriveSecret } from '../secrets.ts'
import type { Base } from './base.ts'

/** Inquiries: who may send one, and what becomes of it. */
export interface Contact {
  /** Whether the answer to the bot check is good. */
  checkBot(answer: string, now: number): Promise<boolean>
  /** null: another service makes the challenges. */
  readonly issueChallenge: ((now: number) => Promise<ContactChallenge>) | null
  /** null: inquiries are not configured. */
  readonly queue: InquiryQueue | null
}

export interface InquiryQueue {
  make(inquiry: Omit<NewInquiry, 'state'>): InquiryRow
  /** Resolves once it is stored, with the event that tells of it, if any. */
  accept(inquiry: InquiryRow, event?: AuditEvent): Promise<void>
  /** null: inquiries are kept for the operator. */
  readonly courier: Courier | null
}

const LOOK_MS = 5_000
const CLEANING_MS = 60 * 60 * 1000

export function openContact(base: Base, opening: DisposableStack): Contact {
  cleanUp(base, opening)
  return { ...openBotCheck(base), queue: openQueue(base, opening) }
}

/** At the start and then once an hour. */
function cleanUp({ db, log, now }: Base, opening: DisposableStack): void {
  const clean = () => removeOldContact(db, now())
  const onError = (error: unknown) => log.error({ err: error }, 'cannot remove old inquiries')
  clean().catch(onError)
  opening.use(repeat(CLEANING_MS, clean, onError))
}

type BotCheck = Pick<Contact, 'checkBot' | 'issueChallenge'>

function openBotCheck({ config, secrets, db, log }: Base): BotCheck {
  if (config.turnstile !== undefined) {
    const onTrouble = (reason: string) => log.error({ reason }, 'cannot ask Turnstile')
    return { checkBot: createTurnstile({ ...config.turnstile, onTrouble }), issueChallenge: null }
  }
  const load = async () => {
    const { createProofOfWork } = await import('../contact/proof-of-work.ts')
    const secret = deriveSecret(secrets, 'contact challenge')
    return createProofOfWork({ db, secret, keySecret: deriveSecret(secrets, 'contact solution') })
  }
  let loading: ReturnType<typeof load> | undefined
  const open = () => {
    loading ??= load()
    return loading
  }
  return {
    checkBot: async (answer, now) => (await open()).check(answer, now),
    issueChallenge: async (now) => (await open()).issue(now),
  }
}

function openQueue(base: Base, opening: DisposableStack): InquiryQueue | null {
  const { db, config } = base
  if (config.contact === undefined) return null
  const deliver = chooseDelivery(base, config.contact, opening)
  const courier = deliver === null ? null : openCourier(base, deliver, opening)
  const state = courier === null ? 'kept' : 'waiting'
  return {
    courier,
    make: (inquiry) => newInquiry({ ...inquiry, state }),
    accept: async (inquiry, event) => {
      const audit = event === undefined ? [] : [insertAudit(db, event)]
      await unit(db, [insertInquiry(db, inquiry), ...audit])
      courier?.wake()
    },
  }
}

function chooseDelivery(
  { config, now }: Base,
  target: ContactTarget,
  opening: DisposableStack,
): Deliver | null {
  switch (target.kind) {
    case 'store':
      return null
    case 'webhook':
      return createDeliverWebhook({ url: target.url, secret: config.contactSecret, now })
    case 'mail':
      return deliverByMail(
        { url: config.smtpUrl ?? '', from: config.mailFrom, to: target.to },
        opening,
      )
  }
}

interface InquiryMail extends MailOptions {
  readonly to: string
}

/** What sends mail is loaded with the first one. */
function deliverByMail(options: InquiryMail, opening: DisposableStack): Deliver {
  const closing = opening.use(new DisposableStack())
  const load = async () => {
    const { createDeliverMail } = await import('../contact/inquiry-mail.ts')
    const { openMailConnection } = await import('../mail.ts')
    const { send } = closing.use(openMailConnection(options))
    return createDeliverMail({ ...options, sendMail: send })
  }
  let loading: ReturnType<typeof load> | undefined
  return async (inquiry, signal) => {
    loading ??= load()
    await (await loading)(inquiry, signal)
  }
}

/** Delivers what the last run has left, what is accepted, and what is to be tried again. */
function openCourier({ db, log, now }: Base, deliver: Deliver, opening: DisposableStack): Courier {
  const onError = (error: unknown) => log.error({ err: error }, 'cannot read or note inquiries')
  const courier = opening.use(
    new Courier({
      db,
      deliver,
      now,
      onTrouble: ({ willRetry, ...fields }) => {
        if (willRetry) log.warn(fields, 'cannot deliver an inquiry; it will be tried again')
        else log.error(fields, 'gave an inquiry up; npm run contact shows it')
      },
      onError,
    }),
  )
  courier.wake()
  opening.use(repeat(LOOK_MS, () => courier.look(), onError))
  return courier
}
