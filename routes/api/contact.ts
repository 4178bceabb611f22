import { unauthorized } from '../lib/access/authenticate.ts'
import { apiEvent } from '../lib/accounts/audit.ts'
import { findUser } from '../lib/accounts/users.ts'
import { ApiError } from '../lib/errors.ts'
import type { InquiryQueue } from '../lib/services/contact.ts'
import type { Services } from '../lib/services/services.ts'
import type { Handlers } from './context.ts'

/** Rate and shape are checked before, by the rows: then comes the bot check, then the queue. */
export function contactHandlers({ db, contact }: Services) {
  const getQueue = (): InquiryQueue => {
    if (contact.queue !== null) return contact.queue
    throw new ApiError('SERVICE_UNAVAILABLE', 'This service takes no inquiries')
  }
  return {
    sendInquiry: async ({ body: { verification, ...inquiry }, now }) => {
      if (!(await contact.checkBot(verification, now))) throw botCheckFailed()
      const queue = getQueue()
      await queue.accept(queue.make({ ...inquiry, userId: null, now }))
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
      const user = await findUser(db, caller.userId)
      // Removed since the request was let in.
      if (user === null) throw unauthorized()
      const inquiry = queue.make({ ...body, email: user.email, userId: user.id, now })
      const target = { targetType: 'inquiry', targetId: inquiry.id }
      await queue.accept(inquiry, apiEvent(caller, { action: 'send_inquiry', ...target }, now))
      return { status: 200, body: { ok: true } }
    },
  } satisfies Partial<Handlers>
}

function botCheckFailed(): ApiError {
  return new ApiError(
    'BOT_VERIFICATION_FAILED',
    'The bot check has failed; solve a new challenge and try again',
  )
}
