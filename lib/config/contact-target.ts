import * as v from 'valibot'
import { isConfidentialUrl } from './confidential-url.ts'

const MAIL = /^mailto:([^\s@?<>,;]+@[^\s@?<>,;]+)$/

/** Whether inquiries go only into the database, by mail, or to a webhook. */
export const ContactTarget = v.pipe(
  v.string(),
  v.check(
    (text) => parseContactTarget(text) !== null,
    'must be store, mailto: with an address, or an https URL',
  ),
  v.transform(parseContactTarget),
)

/** Inquiries hold personal data, so they must leave the machine encrypted. */
function parseContactTarget(text: string) {
  if (text === 'store') return { kind: 'store' } as const
  const to = MAIL.exec(text)?.[1]
  if (to !== undefined) return { kind: 'mail', to } as const
  return isConfidentialUrl(text) ? ({ kind: 'webhook', url: text } as const) : null
}
