import { APP_PATH } from '../contract/pages.ts'
import type { Message } from '../parts/mail.ts'
import type { AccountMailRow, AccountNotice, LinkMail } from './account-mails.ts'
import { messageIdOf } from './mail-delivery.ts'
import type { StopLinks } from './stop-links.ts'
import { VITALS_POOR, vitalsWords } from './vitals-mail.ts'

interface AccountMailOptions {
  /** The sender, such as Meridian <geo@shop.example>. */
  readonly from: string
  /** Address of this service, without a slash at the end. */
  readonly baseUrl: string
  readonly stopLinks: StopLinks
}

/** The message of a queued mail; `query` is that of its link, without the question mark. */
export function toAccountMessage(
  mail: AccountMailRow,
  query: string,
  options: AccountMailOptions,
): Message {
  return {
    to: mail.email,
    ...wordsOf(mail, query, options),
    messageId: messageIdOf(mail.id, options.from),
    date: new Date(mail.createdAt),
    isAutomatic: true,
  }
}

interface Words {
  readonly subject: string
  readonly text: string
  /** Of mails that the user may stop. */
  readonly unsubscribe?: string
}

function wordsOf(mail: AccountMailRow, query: string, options: AccountMailOptions): Words {
  const { kind, createdAt } = mail
  const { baseUrl } = options
  const app = `${baseUrl}${APP_PATH}`
  if (isLinkMail(kind)) {
    const { subject, path, before, after } = LINKS[kind]
    return { subject, text: `${before}\n\n${app}${path}?${query}\n\n${after}\n` }
  }
  if (kind === VITALS_POOR) return vitalsWords(mail, options)
  if (!isNotice(kind)) throw new Error(`no words for the mail ${kind}`)
  const { subject, text, ifNot } = NOTICES[kind]
  const at = `${new Date(createdAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return { subject, text: `${text(baseUrl, at)}\n\n${ifNot(app)}\n` }
}

interface LinkWords {
  readonly subject: string
  /** Path of the page, below that of the dashboard. */
  readonly path: string
  readonly before: string
  readonly after: string
}

/**
 * Links lead to forms of ours, whatever page a request names: a stranger may have sent it. Opening a
 * link changes nothing, since mail scanners open links too.
 */
const LINKS: Readonly<Record<LinkMail, LinkWords>> = {
  verify_email: {
    subject: 'Verify your e-mail address',
    path: '/sign-in',
    before: 'To verify your e-mail address, open this link within an hour and sign in:',
    after: 'If you did not sign up, ignore this message.',
  },
  reset_password: {
    subject: 'Reset your password',
    path: '/reset',
    before: 'Open this link within an hour to choose a new password:',
    after: 'If you did not ask for this, ignore this message.',
  },
  invite: {
    subject: 'Your account is ready',
    path: '/reset',
    before:
      'An account with this address was made for you. Open this link within an hour to choose your password:',
    after:
      'Later, ask for a new link on the sign-in page. If you expect no account, ignore this message.',
  },
  usage_receiver: {
    subject: 'Do you want mails about usage?',
    path: '/usage-mails',
    before:
      'Somebody who has an account here wants you to get a mail when its requests near their limit. Open this link within a week to see who it is, and to agree:',
    after:
      'If you do not agree, ignore this message. That account cannot ask you again within a week.',
  },
  change_email: {
    subject: 'Confirm your new e-mail address',
    path: '/account/email',
    before:
      'To use this address for your account, open this link within an hour, in a browser that is signed in:',
    after: 'If you did not ask for this, ignore this message.',
  },
}

function isLinkMail(kind: string): kind is LinkMail {
  return Object.hasOwn(LINKS, kind)
}

interface NoticeWords {
  readonly subject: string
  readonly text: (baseUrl: string, at: string) => string
  /** What to do if somebody else did it. */
  readonly ifNot: (app: string) => string
}

const secureAccount = (app: string) =>
  `If it was not you, choose a new password at ${app}/forgot and look through your account at ${app}/account.`
const administrator = () => 'If it was not you, tell the administrator.'

const NOTICES: Readonly<Record<AccountNotice, NoticeWords>> = {
  account_exists: {
    subject: 'You already have an account',
    text: () => 'Somebody tried to use your e-mail address for an account, but it already has one.',
    ifNot: (app) =>
      `If it was you, sign in instead at ${app}/sign-in; there you can also ask for a new password or a new verification link. If not, ignore this message.`,
  },
  email_changed: {
    subject: 'Your e-mail address was changed',
    text: (baseUrl) =>
      `Your account at ${baseUrl} has another e-mail address now; this one no longer belongs to it.`,
    ifNot: () => 'If you did not change it, tell the administrator.',
  },
  password_changed: {
    subject: 'Your password was changed',
    text: (baseUrl, at) => `The password of your account at ${baseUrl} was changed (${at}).`,
    ifNot: secureAccount,
  },
  password_reset: {
    subject: 'Your password was reset',
    text: (baseUrl, at) =>
      `A new password was set for your account at ${baseUrl} with a link from an e-mail (${at}). All devices are signed out.`,
    ifNot: secureAccount,
  },
  second_factor_on: {
    subject: 'Two-factor sign-in was turned on',
    text: (baseUrl, at) =>
      `Signing in to your account at ${baseUrl} now also takes a code from an app (${at}).`,
    ifNot: administrator,
  },
  second_factor_off: {
    subject: 'Two-factor sign-in was turned off',
    text: (baseUrl, at) =>
      `Signing in to your account at ${baseUrl} now takes only the password (${at}).`,
    ifNot: secureAccount,
  },
  recovery_code_used: {
    subject: 'A recovery code was used',
    text: (baseUrl, at) =>
      `A recovery code of your account at ${baseUrl} was used (${at}). It does not work again.`,
    ifNot: secureAccount,
  },
  recovery_codes_renewed: {
    subject: 'Your recovery codes were replaced',
    text: (baseUrl, at) =>
      `Your account at ${baseUrl} has new recovery codes (${at}). The old ones no longer work.`,
    ifNot: secureAccount,
  },
}

function isNotice(kind: string): kind is AccountNotice {
  return Object.hasOwn(NOTICES, kind)
}
