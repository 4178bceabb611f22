import type { InquiryRow } from '../lib/contact/inquiry.ts'
import {
  findInquiries,
  listInquiries,
  removeInquiry,
  requeue,
} from '../lib/contact/inquiry-store.ts'
import { unit } from '../lib/db/unit.ts'
import type { Accounts } from './accounts.ts'
import { type Column, printable, textTable } from './text-table.ts'
import { isoSecond } from './times.ts'

const COLUMNS: readonly Column[] = [
  { title: 'Id', align: 'left' },
  { title: 'State', align: 'left' },
  { title: 'Received', align: 'left' },
  { title: 'Attempts', align: 'right' },
  { title: 'Next or last', align: 'left' },
  { title: 'Name', align: 'left' },
  { title: 'Trouble', align: 'left' },
]

/** All inquiries, oldest first. */
export function inquiryTable({ db }: Pick<Accounts, 'db'>): string {
  const cells = listInquiries(db).map((inquiry) => [
    inquiry.id,
    inquiry.state,
    isoSecond(inquiry.createdAt),
    String(inquiry.attempts),
    isoSecond(inquiry.settledAt ?? inquiry.dueAt),
    inquiry.name,
    inquiry.trouble ?? '',
  ])
  return textTable(COLUMNS, cells)
}

/** One inquiry with all that it says. */
export function inquiryText(accounts: Accounts, name: string): string {
  const inquiry = getInquiry(accounts, name)
  const { id, state, createdAt, email, company, userId, trouble, message } = inquiry
  const lines = [
    `Inquiry   ${id}`,
    `Received  ${isoSecond(createdAt)}`,
    `State     ${state}${trouble === null ? '' : `: ${trouble}`}`,
    `Name      ${inquiry.name}`,
    `E-mail    ${email}`,
    ...(company === null ? [] : [`Company   ${company}`]),
    ...(userId === null ? [] : [`User      ${userId}`]),
    '',
    ...message.split(/\r\n|\r|\n/),
  ]
  return lines.map((line) => `${printable(line)}\n`).join('')
}

/** Returns the id. */
export async function retryOne(accounts: Accounts, name: string): Promise<string> {
  const { db, now } = accounts
  const inquiry = getInquiry(accounts, name)
  if (await unit(db, [requeue(db, inquiry, now)])) return inquiry.id
  throw new Error(`${inquiry.id} is being delivered at this moment`)
}

/** Returns how many. */
export async function retryAllDead({ db, now }: Accounts): Promise<number> {
  let queued = 0
  for (const inquiry of listInquiries(db, 'dead')) {
    if (await unit(db, [requeue(db, inquiry, now)])) queued += 1
  }
  return queued
}

/** Returns the id. */
export async function removeOne(accounts: Accounts, name: string): Promise<string> {
  const inquiry = getInquiry(accounts, name)
  await unit(accounts.db, [removeInquiry(accounts.db, inquiry)])
  return inquiry.id
}

/** Returns the one inquiry whose id begins with `name`. */
function getInquiry({ db }: Accounts, name: string): InquiryRow {
  const [inquiry, another] = findInquiries(db, name)
  if (inquiry === undefined) throw new Error(`There is no inquiry ${name}`)
  if (another === undefined) return inquiry
  throw new Error(`Several inquiries begin with ${name}`)
}
