import { countSignUps } from '../../accounts/people.ts'
import { type Revenue, readRevenue } from '../../billing/subscription/recurring-revenue.ts'
import { dateOfDay, dayOf } from '../../config/period.ts'
import { countFailed } from '../../contact/delivery-store.ts'
import type { GeoFile } from '../../doctor/check-age.ts'
import { checkBillingState } from '../../doctor/check-billing.ts'
import { checkInquiries, checkNotices } from '../../doctor/check-deliveries.ts'
import { countBilling } from '../../doctor/count-billing.ts'
import {
  type Check,
  type Finding,
  type NamedFinding,
  ok,
  runCheck,
  warning,
  wrong,
} from '../../doctor/finding.ts'
import type { OpenFile } from '../../geo/library.ts'
import { findTooFewFiles } from '../../parts/process/file-limit.ts'
import { readDaysOfAll } from '../../usage/usage-of-all.ts'
import type { Services } from '../services.ts'
import { quickChecks } from './quick-checks.ts'

/** Requests of known callers by UTC day. */
interface Traffic {
  readonly today: number
  readonly yesterday: number
  /** Answers with status 5xx of both days. */
  readonly errors: number
}

export interface OperatorOverview {
  readonly findings: readonly NamedFinding[]
  readonly traffic: Traffic
  readonly signUps: Awaited<ReturnType<typeof countSignUps>>
  /** null: this service sells nothing. */
  readonly revenue: Revenue | null
}

/** What operators see first: whether all is well, and how much goes on. */
export async function readOverview(services: Services): Promise<OperatorOverview> {
  const { storage, billing, catalogue, now } = services
  const { longReads } = storage
  const [traffic, signUps, revenue] = await Promise.all([
    readTraffic(services),
    countSignUps(longReads, now()),
    billing.isConfigured ? readRevenue(longReads, catalogue.find) : null,
  ])
  const findings = [...(await find(services, traffic)), ...doctorFindings(services)]
  return { findings, traffic, signUps, revenue }
}

async function readTraffic({ storage, now }: Services): Promise<Traffic> {
  const today = dayOf(now())
  const rows = await readDaysOfAll(storage.longReads, { from: today - 1, to: today }, 'status')
  const sum = (wanted: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(wanted).reduce((total, { requests }) => total + requests, 0)
  return {
    today: sum(({ day }) => day === dateOfDay(today)),
    yesterday: sum(({ day }) => day !== dateOfDay(today)),
    errors: sum(({ status = 0 }) => status >= 500),
  }
}

async function find(services: Services, traffic: Traffic): Promise<NamedFinding[]> {
  const found: NamedFinding[] = []
  for (const check of checksOf(services, traffic)) {
    for (const finding of await runCheck(check)) found.push({ check: check.name, ...finding })
  }
  return found
}

function checksOf(services: Services, { errors }: Traffic): Check[] {
  const { config, storage, geo, billing, now } = services
  const { longReads } = storage
  const checks: Check[] = [
    { name: 'Health', find: () => findHealth(services) },
    { name: 'Errors', find: async () => [checkErrors(errors)] },
    {
      name: 'Open files',
      // Of this process: the doctor's may have another limit.
      find: async () => [checkFiles(await findTooFewFiles(config.maxConnections))],
    },
    ...quickChecks({
      config,
      readGeoFiles: async () => geo.files().map(toGeoFile),
      findAccount: services.maxmind.origin,
      now,
    }),
    {
      name: 'Inquiries',
      find: async () => [checkInquiries((await countFailed(longReads)).inquiries)],
    },
    {
      name: 'Deliveries',
      find: async () => [checkNotices((await countFailed(longReads)).notices)],
    },
  ]
  if (!billing.isConfigured) return checks
  const findBilling = async () => checkBillingState(await countBilling(longReads), now())
  return [...checks, { name: 'Billing', find: findBilling }]
}

async function findHealth({ health }: Services): Promise<Finding[]> {
  const { checks } = await health.read()
  const failing = Object.entries(checks).filter(([, passes]) => !passes)
  if (failing.length === 0) return [ok('Look-ups and writes work')]
  return failing.map(([name]) =>
    wrong(`The health check ${name} fails`, 'the log says why, at level 50'),
  )
}

/** `files`: how many may be opened, and how many are needed; null: enough. */
export function checkFiles(files: Awaited<ReturnType<typeof findTooFewFiles>>): Finding {
  if (files === null) return ok('Enough files may be open for all connections')
  const { limit, needed } = files
  const text = `This process may open ${limit} files, but MERIDIAN_MAX_CONNECTIONS needs ${needed}`
  return warning(text, 'raise ulimit -Hn, or lower the setting')
}

function checkErrors(errors: number): Finding {
  if (errors === 0) return ok('No answer since yesterday had status 5xx')
  const text = `${errors} answers since yesterday, 00:00 UTC, had status 5xx`
  return warning(text, 'the log has their requests, at level 50')
}

/** A refused file has an earlier version that is served. */
function toGeoFile({ file, database, refusal, isEarlier }: OpenFile): GeoFile {
  const { name } = file
  const { provider, metadata } = database
  if (isEarlier && refusal !== undefined) {
    return { name, problem: refusal.reason, hasLastUsable: true }
  }
  return { name, provider, builtAt: new Date(metadata.builtAt).toISOString() }
}

/** The problems that the doctor's last run has found with its slower checks. */
function doctorFindings({ operatorJobs }: Services): NamedFinding[] {
  const { last } = operatorJobs.doctor.state()
  if (last === null || !('result' in last)) return []
  const slow = ['Clock', 'Database', 'Billing', 'Mail', 'Sign-in']
  return last.result.filter(({ check, state }) => state !== 'ok' && slow.includes(check))
}
