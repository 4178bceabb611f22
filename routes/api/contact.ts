import { callerEvent } from '../../lib/accounts/audit.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { getUser } from './account.ts'

/** The rate limit and the body are checked before these handlers run. */
export function contactHandlers({ db, contact }: Pick<Services, 'contact' | 'db'>) {
  const getQueue = () => {
    if (contact.queue !== null) return contact.queue
    throw new ApiError('SERVICE_UNAVAILABLE', 'This service accepts no inquiries')
  }
  return {
    sendInquiry: async ({ body: { verification, ...inquiry }, now }) => {
      const queue = getQueue()
      if (!(await contact.checkBot(verification, now))) throw botCheckFailed()
      const before = await contact.useUp(verification)
      const row = queue.make({ ...inquiry, userId: null, now })
      if (!(await queue.accept(row, { before }))) throw botCheckFailed()
      return { status: 200, body: { ok: true } }
    },
    getContactChallenge: async ({ now }) => {
      if (contact.issueChallenge === null) {
        throw new ApiError('NOT_FOUND', 'Inquiries are checked by Cloudflare Turnstile')
      }
      return { status: 200, body: await contact.issueChallenge(now) }
    },
    sendBillingInquiry: async ({ body, caller, now }) => {
      const queue = getQueue()
      const { id: userId, email } = await getUser(db, caller)
      const inquiry = queue.make({ ...body, email, userId, now })
      const target = { targetType: 'inquiry', targetId: inquiry.id }
      const event = callerEvent(caller, { action: 'send_inquiry', ...target }, now)
      await queue.accept(inquiry, { event })
      return { status: 200, body: { ok: true } }
    },
  } satisfies Partial<Handlers>
}

function botCheckFailed(): ApiError {
  const message = 'The bot check has failed; solve a new challenge and try again'
  return new ApiError('BOT_VERIFICATION_FAILED', message)
}
