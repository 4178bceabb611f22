import type { Caller } from '../../lib/access/authenticate.ts'
import { callerEvent, insertAudit } from '../../lib/accounts/audit.ts'
import { updateUsageMails } from '../../lib/accounts/users.ts'
import {
  findReceiver,
  isAsked,
  listReceivers,
  offerReceiver,
  RECEIVER_MAIL,
  removeReceiver,
  restoreReceiver,
  toReceiver,
} from '../../lib/contact/usage-receivers.ts'
import type { AuditNote } from '../../lib/contract/account/audit-actions.ts'
import { readPercents } from '../../lib/contract/account/cap-shares.ts'
import { MAX_RECEIVERS, type UsageMails } from '../../lib/contract/account/usage-mails.ts'
import { ApiError, fieldError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Handlers } from '../context.ts'
import { takeOrRefuse } from '../request/limit.ts'
import { getUser } from './account.ts'

type Parts = Pick<Services, 'db' | 'keys' | 'limits' | 'mails' | 'now'>

export function usageMailHandlers(services: Parts) {
  const { db, keys, mails } = services
  const readBody = async (caller: Caller): Promise<UsageMails> => {
    const { usageMails } = await getUser(db, caller)
    const receivers = await listReceivers(db, caller.userId)
    return { thresholds: [...readPercents(usageMails)], receivers: receivers.map(toReceiver) }
  }
  const auditOf = (caller: Caller, note: AuditNote, now: number) =>
    insertAudit(db, callerEvent(caller, note, now))
  const askOrRestore = async (caller: Caller, email: string, now: number): Promise<void> => {
    const { userId } = caller
    const known = await findReceiver(db, userId, email)
    const id = known?.id ?? crypto.randomUUID()
    const target = { targetType: 'usage_receiver', targetId: id } as const
    const audit = auditOf(caller, { action: 'add_usage_receiver', ...target }, now)
    if (known !== null && isAsked(known, now)) {
      if (known.removedAt !== null) await restoreReceiver(db, known, audit)
      return
    }
    takeOrRefuse(services, 'receiverMails', email)
    const { token, statement } = offerReceiver(db, { id, userId, email, now })
    const link = { user: { id: userId, email }, kind: RECEIVER_MAIL, query: { token } } as const
    await mails.postLink(link, [statement, audit])
  }
  return {
    getUsageMails: async ({ caller }) => ({ status: 200, body: await readBody(caller) }),
    setUsageMails: async ({ caller, body, now }) => {
      const wanted = [...new Set(body.thresholds)].toSorted((a, b) => a - b)
      const { thresholds } = await readBody(caller)
      if (String(thresholds) !== String(wanted)) {
        const detail = `${percentText(thresholds)} to ${percentText(wanted)}`
        const audit = auditOf(caller, { action: 'set_usage_mails', detail }, now)
        await keys.change([updateUsageMails(db, caller.userId, wanted), audit])
      }
      return { status: 200, body: await readBody(caller) }
    },
    addUsageReceiver: async ({ caller, body: { email }, now }) => {
      if (!mails.isOn) throw new ApiError('SERVICE_UNAVAILABLE', 'This service sends no mail')
      const { email: own } = await getUser(db, caller)
      if (email === own) throw fieldError('email', 'gets these mails in any case')
      await askOrRestore(caller, email, now)
      const receiver = await findReceiver(db, caller.userId, email)
      if (receiver === null || receiver.removedAt !== null) {
        throw fieldError('email', `is one too many: at most ${MAX_RECEIVERS} addresses get mails`)
      }
      return { status: 200, body: toReceiver(receiver) }
    },
    removeUsageReceiver: async ({ caller, params, now }) => {
      const { receiverId: targetId } = params
      const note = {
        action: 'remove_usage_receiver',
        targetType: 'usage_receiver',
        targetId,
      } as const
      const receiver = { id: targetId, userId: caller.userId, now }
      if (!(await removeReceiver(db, receiver, auditOf(caller, note, now)))) {
        throw new ApiError('NOT_FOUND', 'Receiver not found')
      }
      return { status: 204, body: undefined }
    },
  } satisfies Partial<Handlers>
}

function percentText(percents: readonly number[]): string {
  return percents.length === 0 ? 'none' : percents.map((percent) => `${percent}%`).join(', ')
}
