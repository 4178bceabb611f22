import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { loadCommonPasswords } from '../access/sign-in/common-passwords.ts'
import { createEmbeddedAuth } from '../access/sign-in/embedded-auth.ts'
import { createQueries } from '../db/queries.ts'
import { createSendMail, type SendMail } from '../mail.ts'
import { freeMemory } from '../process/free-memory.ts'
import { type Caller, connect, type Port, serve, toPlain } from '../storage/channel.ts'
import type { AuthHost, AuthMethods, AuthSettings } from './auth-host.ts'

/** Opens sign-in in a thread of its own: better-auth takes long to load, and milliseconds a call. */
function openMethods(port: Port, { smtpUrl, mailFrom, ...settings }: AuthSettings): AuthMethods {
  const { call: host } = connect<AuthHost>(port, () => {})
  const mails = smtpUrl === undefined ? null : trackMails({ url: smtpUrl, from: mailFrom })
  const handle = createEmbeddedAuth({
    ...settings,
    db: createQueries((query, only) => host('execute', query, only)),
    sendMail: mails?.send ?? null,
    passwordResets: {
      hasSuspectKeys: (user) => host('hasSuspectKeys', user),
      reset: (user, reset) => host('reset', user, reset),
    },
    log: { warn: logTo(host, 'warn'), error: logTo(host, 'error') },
  })
  return {
    ready: async () => {
      await loadCommonPasswords()
      freeMemory()
    },
    handle: async ({ headers, ...call }) => {
      const response = await handle({ ...call, headers: new Headers(headers) })
      const { status } = response
      return { status, headers: [...response.headers], body: await response.text() }
    },
    close: async () => {
      await mails?.settled()
    },
  }
}

function logTo(host: Caller<AuthHost>['call'], level: 'warn' | 'error') {
  return ({ err, ...fields }: { readonly err?: unknown }, message: string) => {
    void host('log', level, { ...fields, ...(err !== undefined && { err: toPlain(err) }) }, message)
  }
}

/** The mail server may not answer: the process waits as long for an inquiry under way. */
const LONGEST_WAIT_MS = 8_000

function trackMails(options: Parameters<typeof createSendMail>[0]) {
  const sendMail = createSendMail(options)
  const underWay = new Set<Promise<void>>()
  const send: SendMail = (...args) => {
    const sending = sendMail(...args).finally(() => underWay.delete(sending))
    underWay.add(sending)
    return sending
  }
  const settled = async () => {
    const tooLate = sleep(LONGEST_WAIT_MS, undefined, { ref: false })
    await Promise.race([Promise.allSettled(underWay), tooLate])
  }
  return { send, settled }
}

if (parentPort !== null) {
  const port = parentPort
  // safe: the thread that starts this one gives it these
  serve(port, () => openMethods(port, workerData as AuthSettings))
}
