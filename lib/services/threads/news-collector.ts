import type { KeyRecord } from '../../access/key-records.ts'
import { dayOf } from '../../config/period.ts'
import { LineBuffer } from '../../log/line-buffer.ts'
import { type Log, type RequestLine, requestLine, silentLog } from '../../log/log.ts'
import { createRequestTimes } from '../../metrics/request-times.ts'
import { reasonOf } from '../../reason.ts'
import type { AnswerCount } from '../../usage/request-counts.ts'
import type { News, Use } from './permits.ts'

/** How often a thread reports what it has answered. A killed thread loses what it has not reported yet. */
const REPORT_MS = 100

/** Levels at which requests are logged. */
const LOGS_REQUESTS = new Set(['info', 'debug', 'trace'])

interface OpenUse extends Use {
  at: number
  readonly answers: { -readonly [Name in keyof AnswerCount]: AnswerCount[Name] }[]
}

/** Collects counts, times and log lines of look-ups, and sends them to the first thread. */
export function createNewsCollector(logLevel: string, send: (news: News) => void) {
  const requestTimes = createRequestTimes()
  const logsRequests = LOGS_REQUESTS.has(logLevel)
  const uses = createUses()
  const lines = new LineBuffer()
  let failures: string[] = []
  const report = () => {
    const [used, written] = [uses.take(), lines.take()]
    if (used.length + written.length + failures.length === 0) return
    send({ uses: used, lines: written, times: requestTimes.take(), failures })
    failures = []
  }
  const timer = setInterval(report, REPORT_MS)
  timer.unref()
  return {
    requestTimes,
    log: {
      ...silentLog,
      request: (line: RequestLine) => {
        if (logsRequests) lines.add(requestLine(line))
      },
      error: (fields: object) => {
        failures.push('err' in fields ? reasonOf(fields.err) : JSON.stringify(fields))
      },
    } satisfies Log,
    begin: uses.begin,
    requestCounter: { count: uses.add },
    /** Sends what is left, and stops. */
    finish: () => {
      clearInterval(timer)
      report()
    },
  }
}

function createUses() {
  let uses = new Map<KeyRecord, OpenUse>()
  /** Uses of earlier days. */
  let earlier: OpenUse[] = []
  let key: KeyRecord | undefined
  const open = (used: KeyRecord, at: number): OpenUse => {
    const known = uses.get(used)
    if (known !== undefined && dayOf(known.at) === dayOf(at)) return known
    if (known !== undefined) earlier.push(known)
    const opened = { key: used, at, answers: [] }
    uses.set(used, opened)
    return opened
  }
  return {
    /** Begins a look-up with the key. */
    begin: (used: KeyRecord) => {
      key = used
    },
    /** Adds the answer to the look-up. */
    add: ({ operation, status, requests, lookUps }: AnswerCount, at: number) => {
      if (key === undefined) return
      const use = open(key, at)
      use.at = at
      for (const known of use.answers) {
        if (known.operation === operation && known.status === status) {
          known.requests += requests
          known.lookUps += lookUps
          return
        }
      }
      use.answers.push({ operation, status, requests, lookUps })
    },
    take: (): readonly Use[] => {
      const taken = [...earlier, ...uses.values()]
      uses = new Map()
      earlier = []
      return taken
    },
  }
}
