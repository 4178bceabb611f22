import { inquiryStore } from '../../lib/contact/delivery-store.ts'
import { findInquiries, type InquiryRow, listInquiries } from '../../lib/contact/inquiry-store.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import type { Accounts } from './accounts.ts'
import { jsonText } from './json-text.ts'
import { printable, textTable } from './text-table.ts'
import { isoSecond } from './times.ts'

/** All inquiries, oldest first. */
export async function inquiryTable({ db }: Pick<Accounts, 'db'>): Promise<string> {
  return textTable(
    await listInquiries(db),
    {
      Id: (inquiry) => inquiry.id,
      State: (inquiry) => inquiry.state,
      Received: (inquiry) => isoSecond(inquiry.createdAt),
      Attempts: (inquiry) => String(inquiry.attempts),
      'Due or settled': (inquiry) => isoSecond(inquiry.settledAt ?? inquiry.dueAt),
      Name: (inquiry) => inquiry.name,
      'Last error': (inquiry) => inquiry.lastError ?? '',
    },
    ['Attempts'],
  )
}

/** All fields of one inquiry as text. */
export async function inquiryText(accounts: Accounts, name: string): Promise<string> {
  const inquiry = await getInquiry(accounts, name)
  const { id, state, createdAt, email, company, userId, lastError, message } = inquiry
  const lines = [
    `Inquiry   ${id}`,
    `Received  ${isoSecond(createdAt)}`,
    `State     ${state}${lastError === null ? '' : `: ${lastError}`}`,
    `Name      ${inquiry.name}`,
    `E-mail    ${email}`,
    ...(company === null ? [] : [`Company   ${company}`]),
    ...(userId === null ? [] : [`User      ${userId}`]),
    '',
    ...message.split(/\r\n|\r|\n/),
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}

/** All inquiries as JSON, oldest first, or the one with this id. */
export async function inquiryJson(accounts: Accounts, name: string | undefined): Promise<string> {
  if (name !== undefined) return jsonText(toJson(await getInquiry(accounts, name)))
  return jsonText((await listInquiries(accounts.db)).map(toJson))
}

/** Without what only deliveries need. */
function toJson({ claim, queuedAt, ...inquiry }: InquiryRow) {
  const { createdAt, dueAt, settledAt } = inquiry
  return {
    ...inquiry,
    createdAt: isoSecond(createdAt),
    dueAt: isoSecond(dueAt),
    settledAt: settledAt && isoSecond(settledAt),
  }
}

/** Queues one inquiry for delivery again. Returns its id. */
export async function retryOne(accounts: Accounts, name: string): Promise<string> {
  const { db, now } = accounts
  const inquiry = await getInquiry(accounts, name)
  if (await runInTransaction(db, [inquiryStore.requeue(db, inquiry, now)])) return inquiry.id
  throw new Error(`${inquiry.id} is being delivered right now`)
}

/** Queues all undeliverable inquiries again. Returns their number. */
export async function retryAllDead({ db, now }: Accounts): Promise<number> {
  let queued = 0
  for (const inquiry of await listInquiries(db, 'dead')) {
    if (await runInTransaction(db, [inquiryStore.requeue(db, inquiry, now)])) queued += 1
  }
  return queued
}

/** Removes one inquiry. Returns its id. */
export async function removeOne(accounts: Accounts, name: string): Promise<string> {
  const inquiry = await getInquiry(accounts, name)
  await runInTransaction(accounts.db, [inquiryStore.remove(accounts.db, inquiry)])
  return inquiry.id
}

/** Returns the one inquiry whose id starts with `name`, or throws. */
async function getInquiry({ db }: Accounts, name: string): Promise<InquiryRow> {
  const [inquiry, another] = await findInquiries(db, name)
  if (inquiry === undefined) throw new Error(`There is no inquiry ${name}`)
  if (another === undefined) return inquiry
  throw new Error(`Several inquiries begin with ${name}`)
}
