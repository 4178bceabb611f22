import assert from 'node:assert/strict'
import { usageReceivers } from '../../lib/db/contact-tables.ts'
import { eq } from '../../lib/db/drizzle.ts'
import type { TestApp } from '../support/helpers.ts'
import type { ReceivedMail } from '../support/mail-server.ts'

/**
 * The link for mail programs in the header of a mail; null if it has none. Gmail and Yahoo demand both fields of mails
 * that their receivers can stop (Email sender guidelines, 2024), RFC 8058 that the link is https (section 3.1).
 */
export function stopLinkIn({ headers }: ReceivedMail): string | null {
  const links = headers.flatMap(
    (line) => /^List-Unsubscribe: <(https:[^<>\s]+)>$/.exec(line)?.[1] ?? [],
  )
  const isOneClick = headers.includes('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
  assert.equal(links.length, isOneClick ? 1 : 0, headers.join('\n'))
  return links[0] ?? null
}

/** Posts to the link as mail programs do (RFC 8058, sections 3.2 and 8.2): no cookies, no Origin. Returns the status. */
export async function stopByProgram({ app }: Pick<TestApp, 'app'>, link: string): Promise<number> {
  const body = new FormData()
  body.set('List-Unsubscribe', 'One-Click')
  const request = new Request(link, { method: 'POST', body })
  return (await app.fetch(request, { remoteAddress: '192.0.2.1' })).status
}

/** The link in the mails to a further receiver. */
export async function stopLinkOf({ services }: Pick<TestApp, 'services'>, email: string) {
  const rows = services.db.select().from(usageReceivers).where(eq(usageReceivers.email, email))
  const { id, userId, confirmedAt } = (await rows.get()) ?? assert.fail()
  return services.stopLinks.urlOf({ kind: 'usage', id, userId, since: confirmedAt ?? 0 })
}
