import assert from 'node:assert/strict'
import { listInquiries } from '../../lib/contact/inquiry-store.ts'
import type { Answer } from '../support/contract-check.ts'
import { codeOf, type TestApp } from '../support/helpers.ts'

export const CONTACT = '/v1/contact'

export const INQUIRY = {
  name: 'Zoë Quarryman',
  email: 'zoe@quarry.example',
  company: 'Quarry & Sons',
  message: 'Two million look-ups a month, please.',
}

/** Parts of the inquiry that no log may show. */
export const PRIVATE = ['Zo', 'Quarry', 'quarry', 'million']

export function outcomeOf(answer: Pick<Answer, 'status' | 'body'>): string {
  return answer.status === 200 ? 'ok' : codeOf(answer)
}

export async function inquiries({ services }: TestApp) {
  return listInquiries(services.db)
}

/** Accepts an inquiry as the routes do. */
export async function accept({ services }: TestApp) {
  const { queue } = services.contact
  assert.ok(queue)
  const inquiry = queue.make({ ...INQUIRY, userId: null, now: services.now() })
  await queue.accept(inquiry)
  return inquiry
}

/** Delivers due inquiries. */
export async function deliverDue({ services }: TestApp): Promise<void> {
  await services.contact.queue?.courier?.retry()
}

/** The state of each inquiry, oldest first. */
export async function outcomes(app: TestApp) {
  const rows = await inquiries(app)
  return rows.map(({ state, attempts, lastError }) => ({ state, attempts, lastError }))
}
