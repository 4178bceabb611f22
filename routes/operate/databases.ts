import { runInTransaction } from '../../lib/db/transaction.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { parse } from '../../lib/parts/parse.ts'
import { MaxmindAccount } from '../../lib/services/geo/maxmind-account.ts'
import {
  describeDatabases,
  describeGeofeeds,
  describeLists,
} from '../../lib/services/operate/databases.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Problem } from '../../pages/dashboard/parts/field.tsx'
import { isoTime } from '../../pages/dashboard/parts/format.ts'
import { Databases, type ServedDatabase } from '../../pages/operate/databases.tsx'
import type { ShownList } from '../../pages/operate/free-lists.tsx'
import type { ShownGeofeed } from '../../pages/operate/geofeeds.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import { readForm } from '../dashboard/request/form.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { actionRoutes, operatorAudit, startJob, toJobView } from './action.ts'

const PATH = '/app/operate/databases'

const FIELDS = { accountId: 'accountId', licenseKey: 'licenseKey' }

export const databaseRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showDatabases(visit) },
  ...actionRoutes(
    PATH,
    showDatabases,
    { '/download': download, '/maxmind': keepAccount, '/maxmind/remove': removeAccount },
    FIELDS,
  ),
]

async function download(visit: UserVisit): Promise<`/app${string}`> {
  const { downloads } = visit.services
  if (downloads === null) {
    throw new ApiError('BAD_REQUEST', 'This server does not download databases')
  }
  await startJob(visit, downloads.job, { action: 'download_databases' }, undefined)
  return PATH
}

async function keepAccount(visit: UserVisit): Promise<`/app${string}`> {
  const { db, maxmind } = visit.services
  await checkUnset(visit)
  const form = await readForm(visit.c)
  const typed = { accountId: form.text('accountId'), licenseKey: form.text('licenseKey') }
  const sealed = await maxmind.encrypt(parse(MaxmindAccount, typed))
  const row = operatorAudit(visit, { action: 'set_maxmind_account' })
  await runInTransaction(db, [maxmind.keep(sealed), row])
  return `${PATH}?done=kept`
}

async function removeAccount(visit: UserVisit): Promise<`/app${string}`> {
  const { db, maxmind } = visit.services
  await checkUnset(visit)
  // If there is none, nothing changes and nothing is recorded.
  const row = operatorAudit(visit, { action: 'remove_maxmind_account' })
  await runInTransaction(db, [maxmind.remove(), row])
  return `${PATH}?done=removed`
}

/** An account of the settings comes first, so one that an operator entered would have no effect. */
async function checkUnset({ services }: UserVisit): Promise<void> {
  if ((await services.maxmind.origin()) !== 'settings') return
  throw new ApiError('BAD_REQUEST', 'The settings have an account: MERIDIAN_MAXMIND_ACCOUNT_ID')
}

async function showDatabases(
  visit: UserVisit,
  shown: { readonly error?: string; readonly problem?: Problem } = {},
  status = 200,
): Promise<PageAnswer> {
  const { services, instance } = visit
  const account = await services.maxmind.origin()
  const databases = describeDatabases(services, account).map(
    ({ builtAt, openedAt, refusal, ...database }): ServedDatabase => ({
      ...database,
      builtAt: isoTime(builtAt),
      openedAt: isoTime(openedAt),
      refusal: refusal && { ...refusal, at: isoTime(refusal.at) },
    }),
  )
  const lists = describeLists(services).map(
    ({ name, networks, checkedAt, failure }): ShownList => ({
      name,
      networks,
      checkedAt: isoTime(checkedAt ?? null),
      failure: failure && { ...failure, at: isoTime(failure.at) },
    }),
  )
  const content = Databases({
    base: instance.base,
    done: visit.c.req.query('done'),
    account,
    databases,
    lists,
    geofeeds: shownGeofeeds(services),
    download: toDownload(services),
    ...shown,
  })
  return showOperatePage(visit, { title: 'Databases', content, status })
}

function shownGeofeeds(services: Services): ShownGeofeed[] {
  return describeGeofeeds(services).map(({ checkedAt, failure, examples = [], ...feed }) => ({
    ...feed,
    examples,
    checkedAt: isoTime(checkedAt ?? null),
    failure: failure && { ...failure, at: isoTime(failure.at) },
  }))
}

function toDownload({ downloads }: Services) {
  if (downloads === null) return null
  const { isRegular, job, last } = downloads
  return { ...toJobView(job.state()), isRegular, succeededAt: isoTime(last().succeededAt || null) }
}
