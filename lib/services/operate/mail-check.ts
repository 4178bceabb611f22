import { MINUTE_MS } from '../../parts/durations.ts'
import type { Services } from '../services.ts'

/** Longer than the time-outs of one connection: a slow server must not hold an operator's request for ever. */
const WAIT_MS = MINUTE_MS

/**
 * Sends a mail at once, past the queues. Resolves to why the server did not accept it, in words; null: it did.
 * `url`: of the mail server.
 */
export async function sendTestMail(
  { config, baseUrl }: Pick<Services, 'config' | 'baseUrl'>,
  url: string,
  to: string,
): Promise<string | null> {
  const { explainMailError, openMailConnection } = await import('../../parts/mail.ts')
  using connection = openMailConnection({ url, from: config.mailFrom })
  const message = {
    to,
    subject: 'Test mail',
    text: `This mail shows that the service at ${baseUrl()} can send mail.\n`,
    isAutomatic: true,
  }
  try {
    await connection.send(message, AbortSignal.timeout(WAIT_MS))
    return null
  } catch (error) {
    return explainMailError(error, new URL(url).host)
  }
}
