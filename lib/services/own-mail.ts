import type { Config } from '../config/config.ts'
import type { Log } from '../parts/log/log.ts'
import type { SendMail } from '../parts/mail.ts'
import { once } from '../parts/once.ts'
import { withTimeout } from '../parts/with-timeout.ts'

/** As long as a stopping process waits for the delivery of an inquiry. */
const LONGEST_WAIT_MS = 8_000

/** Keeps track of the mails that are being sent, so that the process can wait for them when it ends. */
export function trackMails(sendMail: SendMail) {
  const underWay = new Set<Promise<void>>()
  const send: SendMail = (...args) => {
    const sending = sendMail(...args).finally(() => underWay.delete(sending))
    underWay.add(sending)
    return sending
  }
  const settled = async () => {
    await withTimeout(Promise.allSettled(underWay), LONGEST_WAIT_MS, () => {})
  }
  return { send, settled }
}

/** Sends a mail in the background, so that no answer reveals how long that takes. */
export type PostMail = (to: string, subject: string, text: string) => void

/** Returns null if this service sends no mail. */
export function openOwnMail(
  { smtpUrl, mailFrom }: Pick<Config, 'smtpUrl' | 'mailFrom'>,
  log: Pick<Log, 'error'>,
  opening: AsyncDisposableStack,
): PostMail | null {
  if (smtpUrl === undefined) return null
  const load = once(async () => {
    const { createSendMail } = await import('../parts/mail.ts')
    return createSendMail({ url: smtpUrl, from: mailFrom })
  })
  const { send, settled } = trackMails(async (...args) => (await load())(...args))
  opening.defer(settled)
  return (to, subject, text) => {
    send({ to, subject, text }).catch((err: unknown) =>
      log.error({ err, subject }, 'cannot send mail'),
    )
  }
}
