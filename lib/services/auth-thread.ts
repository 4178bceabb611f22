import { parentPort, workerData } from 'node:worker_threads'
import { loadCommonPasswords } from '../access/sign-in/common-passwords.ts'
import { createEmbeddedAuth } from '../access/sign-in/embedded-auth.ts'
import { createQueries } from '../db/queries.ts'
import type { SendMail } from '../parts/mail.ts'
import { once } from '../parts/once.ts'
import { freeMemory } from '../parts/process/free-memory.ts'
import { type Caller, connect, type Port, serve, toPlain } from '../storage/channel.ts'
import type { AuthHost, AuthMethods, AuthSettings } from './auth-host.ts'
import { trackMails } from './own-mail.ts'

/** Opens sign-in in a thread of its own: better-auth takes long to load, and milliseconds per call. */
function openMethods(port: Port, { smtpUrl, mailFrom, ...settings }: AuthSettings): AuthMethods {
  const { call: host } = connect<AuthHost>(port, () => {})
  const mail = smtpUrl === undefined ? null : openMail(smtpUrl, mailFrom)
  const mails = mail === null ? null : trackMails(mail.send)
  const handle = createEmbeddedAuth({
    ...settings,
    db: createQueries((query, only) => host('execute', query, only)),
    sendMail: mails?.send ?? null,
    passwordResets: {
      hasSuspectKeys: (user) => host('hasSuspectKeys', user),
      reset: (user, reset) => host('reset', user, reset),
    },
    secondStep: {
      challenge: (userId) => host('challenge', userId),
      pass: (answer) => host('pass', answer),
    },
    log: { warn: logTo(host, 'warn'), error: logTo(host, 'error') },
  })
  return {
    ready: async () => {
      await Promise.all([loadCommonPasswords(), mail?.load()])
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

/** Loads the mail package only if this service sends mail. */
function openMail(url: string, from: string) {
  const load = once(async () => (await import('../parts/mail.ts')).createSendMail({ url, from }))
  const send: SendMail = async (message, signal) => (await load())(message, signal)
  return { load, send }
}

function logTo(host: Caller<AuthHost>['call'], level: 'warn' | 'error') {
  return ({ err, ...fields }: { readonly err?: unknown }, message: string) => {
    void host('log', level, { ...fields, ...(err !== undefined && { err: toPlain(err) }) }, message)
  }
}

if (parentPort !== null) {
  const port = parentPort
  // safe: the thread that starts this one gives it these
  serve(port, () => openMethods(port, workerData as AuthSettings))
}
