import { verifyMail } from '../mail.ts'
import { type Finding, ok, reasonOf, wrong } from './finding.ts'

/** Whether the mail server lets us in. No mail is sent. */
export async function checkMail(url: string): Promise<Finding[]> {
  const { host } = new URL(url)
  try {
    await verifyMail(url)
    return [ok(`${host} takes mail`)]
  } catch (error) {
    return [wrong(`${host} takes no mail: ${reasonOf(error)}`, 'see to MERIDIAN_SMTP_URL')]
  }
}
