import { ApiError } from '../../lib/parts/errors.ts'
import {
  describeDatabases,
  describeGeofeeds,
  describeLists,
} from '../../lib/services/operate/databases.ts'
import type { Services } from '../../lib/services/services.ts'
import { isoTime } from '../../pages/dashboard/parts/format.ts'
import { Databases, type ServedDatabase } from '../../pages/operate/databases.tsx'
import type { ShownList } from '../../pages/operate/free-lists.tsx'
import type { ShownGeofeed } from '../../pages/operate/geofeeds.tsx'
import { showOperatePage } from '../dashboard/request/answer.ts'
import type { AppRoute, UserVisit } from '../dashboard/request/visit.ts'
import type { PageAnswer } from '../pages/page.ts'
import { actionRoutes, startJob, toJobView } from './action.ts'

const PATH = '/app/operate/databases'

export const databaseRoutes: readonly AppRoute<UserVisit>[] = [
  { method: 'get', path: PATH, answer: (visit) => showDatabases(visit) },
  ...actionRoutes(PATH, showDatabases, {
    '/download': async (visit) => {
      const { downloads } = visit.services
      if (downloads === null) {
        throw new ApiError('BAD_REQUEST', 'This server does not download databases')
      }
      await startJob(visit, downloads.job, { action: 'download_databases' }, undefined)
      return PATH
    },
  }),
]

async function showDatabases(
  visit: UserVisit,
  shown: { readonly error?: string } = {},
  status = 200,
): Promise<PageAnswer> {
  const { services, instance } = visit
  const databases = describeDatabases(services).map(
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
