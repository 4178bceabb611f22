import { runInTransaction } from '../../lib/db/transaction.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { sendTestMail } from '../../lib/services/operate/mail-check.ts'
import { readSystem } from '../../lib/services/operate/system.ts'
import { isoTime } from '../../pages/dashboard/parts/format.ts'
import { System } from '../../pages/operate/system.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { actionRoutes, operatorAudit, startJob, toJobView } from './action.ts'

const PATH = '/app/operate/system'

export const systemRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showSystem(visit) },
  ...actionRoutes(PATH, showSystem, {
    '/doctor': async (visit) => {
      const { doctor } = visit.services.operatorJobs
      await startJob(visit, doctor, { action: 'run_doctor' }, undefined)
      return PATH
    },
    '/backup': async (visit) => {
      const { backup } = visit.services.operatorJobs
      await startJob(visit, backup, { action: 'create_backup' }, undefined)
      return PATH
    },
    '/test-mail': sendTest,
  }),
]

/** Waits for the answer of the mail server, which is the result. */
async function sendTest(visit: UserVisit): Promise<`/app${string}`> {
  const { services, me } = visit
  const { smtpUrl } = services.config
  if (smtpUrl === undefined) throw new ApiError('BAD_REQUEST', 'MERIDIAN_SMTP_URL is not set')
  if (me.email === null) throw new ApiError('BAD_REQUEST', 'Your account has no e-mail address')
  await runInTransaction(services.db, [operatorAudit(visit, { action: 'send_test_mail' })])
  const failure = await sendTestMail(services, smtpUrl, me.email)
  if (failure !== null) throw new ApiError('SERVICE_UNAVAILABLE', failure)
  return `${PATH}?done=mail`
}

async function showSystem(
  visit: UserVisit,
  shown: { readonly error?: string } = {},
  status = 200,
): Promise<PageAnswer> {
  const { services, instance } = visit
  const { doctor, backup } = services.operatorJobs
  const { backups, ...system } = await readSystem(services)
  const { last } = doctor.state()
  const content = System({
    base: instance.base,
    done: visit.c.req.query('done'),
    mail: services.config.smtpUrl === undefined ? null : { to: visit.me.email ?? '' },
    system,
    backups: backups.latest.map(({ path, createdAt }) => ({ path, at: isoTime(createdAt) })),
    backupCount: backups.count,
    backup: toJobView(backup.state()),
    doctor: toJobView(doctor.state()),
    findings: last !== null && 'result' in last ? last.result : null,
    ...shown,
  })
  return showOperatePage(visit, { title: 'System', content, status })
}
