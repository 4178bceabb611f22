import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveSecret, type Secrets } from '../config/secrets.ts'
import { STOP_PATH } from '../contract/pages.ts'

/** Mails that whoever has their link can stop, without a session. */
export interface StoppableMails {
  /** `usage`: to a further receiver; `vitals`: about a site, to its owner. */
  readonly kind: 'usage' | 'vitals'
  /** Of the receiver or the site. It is no secret: the API shows it. */
  readonly id: string
  readonly userId: string
  /** When the receiver agreed, or the owner turned the mails on, so that older links cannot stop them. */
  readonly since: number
}

export interface StopLinks {
  /** The address of the link. */
  readonly urlOf: (mails: StoppableMails) => string
  /** Whether the id is that in the link of these mails. */
  readonly isIdOf: (id: string, mails: StoppableMails) => boolean
}

export function createStopLinks(secrets: Secrets, baseUrl: () => string): StopLinks {
  const secret = deriveSecret(secrets, 'links that stop mails')
  const idOf = ({ kind, id, userId, since }: StoppableMails) => {
    const signed = JSON.stringify([kind, id, userId, since])
    return `${kind}.${id}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
  }
  return {
    urlOf: (mails) => `${baseUrl()}${STOP_PATH}?${new URLSearchParams({ id: idOf(mails) })}`,
    isIdOf: (id, mails) => {
      const [given, right] = [Buffer.from(id), Buffer.from(idOf(mails))]
      return given.length === right.length && timingSafeEqual(given, right)
    },
  }
}

/** What the id in a link names, without any proof. */
export function namedBy(id: string): Pick<StoppableMails, 'kind' | 'id'> | null {
  const [kind, subject = ''] = id.split('.')
  return kind === 'usage' || kind === 'vitals' ? { kind, id: subject } : null
}
