import type { PgConnection } from '../../postgres/connection.ts'
import { dayOfHour } from '../hour.ts'
import {
  CAUSE_CAP,
  ERROR_CAP,
  OTHER_ERRORS,
  OTHERS_HASH,
  type SiteFold,
} from '../rows/site-fold.ts'
import type { ErrorGroup } from '../store/counts.ts'
import { addAll, type Columns, runBulk } from './bulk.ts'
import { admitNames, type DayName, type FullDay, nameTable } from './names.ts'

type SiteErrors = ErrorGroup & { readonly siteId: string }

const HASH: Columns = { hash: 'text' }
const HASH_NAMES = nameTable('rum_error_samples', 'hash', ERROR_CAP)
/** The first sample of a day stays. */
const ADD_SAMPLES = addAll(
  'rum_error_samples',
  { site_id: 'text', day: 'bigint', ...HASH },
  { values: { sample: 'text' }, changes: {} },
)
const ADD_ERRORS = addAll(
  'rum_errors',
  { site_id: 'text', hour: 'bigint', ...HASH },
  {
    values: { count: 'bigint', first_at: 'bigint', last_at: 'bigint' },
    changes: {
      count: 'stored.count + excluded.count',
      first_at: 'least(stored.first_at, excluded.first_at)',
      last_at: 'greatest(stored.last_at, excluded.last_at)',
    },
  },
)
const ADD_COUNTS = addAll(
  'rum_counts',
  { site_id: 'text', hour: 'bigint', kind: 'text', label: 'text' },
  { values: { count: 'bigint' }, changes: { count: 'stored.count + excluded.count' } },
)

const LABEL: Columns = { label: 'text' }
const LABELS = nameTable('rum_attribution', 'label', CAUSE_CAP)
const ADD_CAUSES = addAll(
  'rum_attribution',
  { site_id: 'text', day: 'bigint', ...LABEL },
  {
    values: { count: 'bigint' },
    changes: { count: 'stored.count + excluded.count' },
  },
)

/** Adds the causes of the sites to the stored ones. Returns the days that have reached their limit. */
export async function addCauses(
  connection: PgConnection,
  sites: readonly SiteFold[],
): Promise<readonly FullDay[]> {
  const all = sites.flatMap(({ siteId, causes }) =>
    Array.from(causes.values(), (count) => ({ ...count, siteId })),
  )
  const nameOf = ({ siteId, day, label }: (typeof all)[number]) => ({ siteId, day, name: label })
  const admitted = await admitNames(connection, LABELS, all.map(nameOf))
  const joined = new Map<string, (typeof all)[number]>()
  for (const count of all) {
    const label = admitted.nameOf(nameOf(count))
    const key = `${count.siteId} ${count.day} ${label}`
    joined.set(key, { ...count, label, count: count.count + (joined.get(key)?.count ?? 0) })
  }
  const tuples = Array.from(joined.values(), ({ siteId, day, label, count }) => [
    ...[siteId, day, label, count],
  ])
  await runBulk(connection, ADD_CAUSES, tuples)
  return admitted.fullDays
}

/** Adds the counters of the sites to the stored ones. */
export async function addCounts(
  connection: PgConnection,
  sites: readonly SiteFold[],
): Promise<void> {
  const tuples = sites.flatMap(({ siteId, counts }) =>
    Array.from(counts.values(), ({ hour, kind, label, count }) => [
      ...[siteId, hour, kind, label, count],
    ]),
  )
  await runBulk(connection, ADD_COUNTS, tuples)
}

/**
 * Adds the errors of the sites to the stored ones. Returns the days that have reached their limit of kinds.
 */
export async function addErrors(
  connection: PgConnection,
  sites: readonly SiteFold[],
): Promise<readonly FullDay[]> {
  const all = sites.flatMap(({ siteId, errors }) =>
    Array.from(errors.values(), (group) => ({ ...group, siteId })),
  )
  const admitted = await admitNames(connection, HASH_NAMES, all.map(toName))
  const groups = joinEqual(
    all.map((group) =>
      admitted.nameOf(toName(group)) === group.hash
        ? group
        : { ...group, hash: OTHERS_HASH, sample: OTHER_ERRORS },
    ),
  )
  const samples = groups.map((group) => {
    const { siteId, day, name } = toName(group)
    return [siteId, day, name, JSON.stringify(group.sample)]
  })
  await runBulk(connection, ADD_SAMPLES, samples)
  const tuples = groups.map(({ siteId, hour, hash, count, firstAt, lastAt }) => [
    ...[siteId, hour, hash, count, firstAt, lastAt],
  ])
  await runBulk(connection, ADD_ERRORS, tuples)
  return admitted.fullDays
}

function toName({ siteId, hour, hash }: SiteErrors): DayName {
  return { siteId, day: dayOfHour(hour), name: hash }
}

/** Joins groups with the same key, because a statement can write a row only once. */
function joinEqual(groups: readonly SiteErrors[]): SiteErrors[] {
  const joined = new Map<string, SiteErrors>()
  for (const group of groups) {
    const name = `${group.siteId} ${group.hour} ${group.hash}`
    const known = joined.get(name)
    const sum = known && {
      count: known.count + group.count,
      firstAt: Math.min(known.firstAt, group.firstAt),
      lastAt: Math.max(known.lastAt, group.lastAt),
    }
    joined.set(name, { ...(known ?? group), ...sum })
  }
  return [...joined.values()]
}
