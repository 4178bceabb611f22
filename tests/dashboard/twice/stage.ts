import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { silentLog } from '../../../lib/parts/log/log.ts'
import { createFindTxt } from '../../../lib/parts/net/txt-records.ts'
import { openDownloads } from '../../../lib/services/geo/downloads.ts'
import type { Services } from '../../../lib/services/services.ts'
import { openSiteProofs } from '../../../lib/services/sites/site-proofs.ts'
import { openShop, type Shop } from '../../billing/shop.ts'
import type { Answer as ApiAnswer } from '../../support/contract-check.ts'
import { readColumn, readRows, readValue, write } from '../../support/database/sql.ts'
import { startDnsServer } from '../../support/dns-server.ts'
import { startLoopbackServer } from '../../support/loopback-server.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import { signUp, signUpByMail } from '../../support/sign-in.ts'

/** The answer to a form, without what differs in every answer. */
export interface FormAnswer {
  readonly status: number
  readonly location: string | null
  readonly cookies: readonly string[]
  readonly html: string
  /** What the database contains, and how often Stripe was asked to change something. */
  readonly after: string
}

export interface Stage extends AsyncDisposable {
  readonly origin: string
  readonly shop: Shop
  readonly mail: MailServer
  /** The session of Ada, a user. */
  readonly token: string
  /** Calls the API with Ada's session. */
  send(method: string, path: string, body?: unknown): Promise<ApiAnswer>
  /** Makes Olga, an operator. Returns the token of her session. */
  operator(): Promise<string>
  /** From now on, answers to forms are recorded, and held back until `release`. */
  holdAnswers(): Promise<void>
  release(): void
  /** Resolves to the recorded answers once there are as many. */
  answers(forms: number): Promise<readonly FormAnswer[]>
  /** The mails since `holdAnswers`, once all are sent: recipient and subject. */
  mails(): Promise<readonly string[]>
}

/** The address of every visitor. */
const VISITOR = '81.2.69.160'

/** The whole service, with mail unless `sendsMail` is false, on a real port for browsers. */
export async function openStage(sendsMail: boolean): Promise<Stage> {
  await using opening = new AsyncDisposableStack()
  const mail = opening.use(await startMailServer())
  const dns = opening.use(await startDnsServer())
  const recording = recordForms()
  const loopback = opening.use(await startLoopbackServer((...both) => listener(...both)))
  const shop = opening.use(
    await openShop({
      env: {
        MERIDIAN_BASE_URL: loopback.origin,
        ...(sendsMail && {
          MERIDIAN_SMTP_URL: mail.url,
          MERIDIAN_CONTACT: 'mailto:team@example.com',
        }),
      },
      runScript: async () => '',
      replace: (services) => ({
        siteProofs: openSiteProofs(services, createFindTxt([dns.address])),
        downloads: downloadsOf(services),
      }),
    }),
  )
  const { app } = shop
  const listener = getRequestListener((request) =>
    recording.answer(
      request,
      () => app.app.fetch(request, { remoteAddress: VISITOR }),
      () => describe(shop),
    ),
  )
  const readMail = async () => {
    const { to, headers } = await mail.next()
    return [...to, headers.find((line) => line.startsWith('Subject:'))].join(' ')
  }
  const join = (email: string) => (sendsMail ? signUpByMail(app, mail, email) : signUp(app, email))
  const token = await join('grace@example.com')
  await shop.settled()
  opening.defer(recording.release)
  const closing = opening.move()
  return {
    origin: loopback.origin,
    shop,
    mail,
    token,
    send: (method, path, body) =>
      app.send(method, path, { body, headers: { authorization: `Bearer ${token}` } }),
    operator: async () => {
      const own = await join('olga@example.com')
      await write(app, "UPDATE users SET role = 'operator' WHERE email = 'olga@example.com'")
      return own
    },
    holdAnswers: async () => {
      while (mail.left() > 0) await readMail()
      recording.hold()
    },
    release: recording.release,
    answers: recording.answers,
    mails: async () => {
      while (Number(await readValue(app, 'SELECT count(*) FROM account_mails')) > 0) await sleep(20)
      const mails: string[] = []
      while (mail.left() > 0) mails.push(await readMail())
      return mails
    },
    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  }
}

/** Downloads that succeed at once. */
function downloadsOf({ config, now }: Services) {
  const geo = { ...config.geo, files: undefined }
  const download = { ...config.download, maxmindAccountId: '1', maxmindLicenseKey: 'none' }
  const own = { config: { ...config, geo, download }, log: silentLog, now }
  return openDownloads(own, async () => {}, new AsyncDisposableStack())
}

/** Each page has new ones. */
const ANY_FORM_ID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

function recordForms() {
  const answers: FormAnswer[] = []
  const events = new EventTarget()
  let held: PromiseWithResolvers<void> | undefined
  return {
    answer: async (
      request: Request,
      fetch: () => Response | Promise<Response>,
      after: () => Promise<string>,
    ) => {
      const response = await fetch()
      if (request.method !== 'POST' || held === undefined) return response
      const { status, headers } = response
      answers.push({
        status,
        location: headers.get('location'),
        cookies: headers.getSetCookie(),
        html: (await response.clone().text()).replaceAll(ANY_FORM_ID, ''),
        after: await after(),
      })
      events.dispatchEvent(new Event('answer'))
      await held.promise
      return response
    },
    hold: () => {
      held = Promise.withResolvers()
    },
    release: () => held?.resolve(),
    answers: async (forms: number) => {
      while (answers.length < forms) {
        await new Promise((resolve) => events.addEventListener('answer', resolve, { once: true }))
      }
      return answers
    },
  }
}

/** Tables that change by themselves, or with each request. What is done with messages is in the audit log. */
const OTHER_TABLES = [
  ...['access_changes', 'account_mails', 'buckets', 'cap_notices', 'health', 'inquiries'],
  ...['kept_answers', 'summed_usage'],
]

async function describe({ app, double, settled }: Shop): Promise<string> {
  const { comparison, doctor, backup } = app.services.operatorJobs
  for (const job of [comparison, doctor, backup]) await job.settled()
  await settled()
  await app.services.ledger.flush()
  const tables = await readColumn(
    app,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
  )
  const rows = await Promise.all(
    tables
      .filter((table) => !OTHER_TABLES.includes(String(table)))
      .map(async (table) => [table, await readRows(app, `SELECT * FROM ${table}`)]),
  )
  const changes = double.calls().filter(({ method }) => method !== 'GET').length
  return JSON.stringify({ rows, changes }, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}
