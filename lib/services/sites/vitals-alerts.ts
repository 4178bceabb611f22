import { removeExpiredLinks } from '../../access/site-links.ts'
import { listDueAlerts, setJudged } from '../../accounts/vitals-alerts.ts'
import { dateOfDay, dayOf } from '../../config/period.ts'
import { insertVitalsMail, type PoorVitals } from '../../contact/vitals-mail.ts'
import { worstPage } from '../../contract/telemetry/rating.ts'
import type { RumOverview } from '../../contract/telemetry/telemetry-overview.ts'
import { runInTransaction } from '../../db/transaction.ts'
import { HOUR_MS, MINUTE_MS } from '../../parts/durations.ts'
import { repeat } from '../../parts/repeat.ts'
import { HOURS_OF_DAY } from '../../rum/hour.ts'
import { judgeDay, type TurnedPoor } from '../../rum/read/judge-day.ts'
import type { Rum } from '../../rum/rum.ts'
import type { AccountMails } from '../account-mails.ts'
import type { Foundation } from '../foundation.ts'

/**
 * A day is judged an hour after its end in UTC. A beacon belongs to the hour in which it arrives, so none comes later,
 * but the latest are summed up within ten seconds, those of a killed node within minutes, and clocks of nodes differ.
 */
const LATE_MS = HOUR_MS
const FIRST_MS = 5 * MINUTE_MS
/** Alerts that are read at once. */
const PART = 100

interface Parts extends Pick<Foundation, 'storage' | 'db' | 'log' | 'now'> {
  readonly rum: Pick<Rum, 'readOverview'>
  readonly mails: Pick<AccountMails, 'isOn' | 'wake'>
}

type DueAlert = Awaited<ReturnType<typeof listDueAlerts>>[number]

/** Mails owners whose metrics turn poor, and removes expired links, once an hour. */
export function openVitalsAlerts(parts: Parts, opening: AsyncDisposableStack) {
  const { storage, db, log, now, mails } = parts
  const stopping = new AbortController()
  const work = async (signal: AbortSignal) => {
    await removeExpiredLinks(db, now()).run()
    if (mails.isOn) await judgeDue(parts, signal)
  }
  const workAlone = () =>
    storage.leases.runAlone(
      'alerts of vitals',
      (signal) => work(AbortSignal.any([stopping.signal, signal])),
      { restMs: HOUR_MS },
    )
  const onError = (err: unknown) => log.error({ err }, 'cannot judge vitals or remove old links')
  opening.use(repeat(HOUR_MS, workAlone, onError, FIRST_MS))
  opening.defer(() => stopping.abort())
  return {
    /** Does now what is done once an hour. */
    work: () => work(stopping.signal),
  }
}

async function judgeDue(parts: Parts, signal: AbortSignal): Promise<void> {
  const { db, log, now } = parts
  const day = dayOf(now() - LATE_MS) - 1
  const errors: unknown[] = []
  for (let after = ''; ; ) {
    const due = await listDueAlerts(db, day, after, PART)
    for (const alert of due) {
      if (signal.aborted) return
      await judge(parts, alert, day).catch((error: unknown) => errors.push(error))
    }
    const last = due.at(-1)
    if (last === undefined || due.length < PART) break
    after = last.siteId
  }
  if (errors.length === 0) return
  log.warn({ failed: errors.length, err: errors.at(-1) }, 'cannot judge vitals; the next hour will')
}

/**
 * Judges the day, and queues one mail if something has turned poor: all in one unit, which the stored day decides,
 * so that of several nodes or runs only one mails. Days on which no server ran are not made up for.
 */
async function judge(parts: Parts, alert: DueAlert, day: number): Promise<void> {
  const { db, now, mails } = parts
  const { devices } = await readDay(parts, alert, day)
  const { turned, poor } = judgeDay(devices, new Set(alert.poor.split(',')))
  const judged = setJudged(db, alert, { day, poor: [...poor].join(',') })
  if (turned.length === 0) {
    await judged.run()
    return
  }
  const mail = insertVitalsMail(db, {
    userId: alert.userId,
    siteId: alert.siteId,
    poor: await describe(parts, { alert, day, turned }),
    now: now(),
  })
  if (await runInTransaction(db, [judged, mail])) mails.wake()
}

interface Turn {
  readonly alert: DueAlert
  readonly day: number
  readonly turned: readonly TurnedPoor[]
}

/** What the mail says, with the slowest page of each finding on its kind of device. */
async function describe(parts: Parts, { alert, day, turned }: Turn): Promise<PoorVitals> {
  const findings: PoorVitals['findings'] = []
  for (const { device, vital, value } of turned) {
    const { paths } = await readDay(parts, alert, day, device)
    const page = worstPage(paths, vital, value)
    findings.push({ device, vital, value, ...(page !== null && { page }) })
  }
  return { site: alert.site, day: dateOfDay(day), since: alert.createdAt, findings }
}

async function readDay(
  { rum }: Pick<Parts, 'rum'>,
  { siteId }: Pick<DueAlert, 'siteId'>,
  day: number,
  device?: string,
): Promise<Pick<RumOverview, 'devices' | 'paths'>> {
  const from = day * HOURS_OF_DAY
  const period = { from, to: from + HOURS_OF_DAY - 1 }
  return JSON.parse(await rum.readOverview({ siteId, period, device }))
}
