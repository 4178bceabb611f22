import type { InquiryBody } from '../contract/contact.ts'
import type { inquiries } from '../db/contact-tables.ts'

export type InquiryRow = typeof inquiries.$inferSelect
export type InquiryState = InquiryRow['state']

export interface NewInquiry extends Pick<InquiryBody, 'name' | 'company' | 'message'> {
  readonly email: string
  /** null: asked without a key. */
  readonly userId: string | null
  readonly now: number
  /** `waiting` is delivered, `kept` is left to the operator. */
  readonly state: 'waiting' | 'kept'
}

export function newInquiry({ now, company, ...inquiry }: NewInquiry): InquiryRow {
  return {
    ...inquiry,
    id: crypto.randomUUID(),
    company: company === undefined || company === '' ? null : company,
    createdAt: now,
    queuedAt: now,
    dueAt: now,
    attempts: 0,
    claim: null,
    settledAt: null,
    trouble: null,
  }
}
