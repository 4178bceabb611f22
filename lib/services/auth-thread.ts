import { parentPort, workerData } from 'node:worker_threads'
import type { AuthMailer } from '../access/sign-in/auth-mail.ts'
import { loadCommonPasswords } from '../access/sign-in/common-passwords.ts'
import { createEmbeddedAuth } from '../access/sign-in/embedded-auth.ts'
import { createQueries } from '../db/queries.ts'
import { freeMemory } from '../parts/process/free-memory.ts'
import { type Caller, connect, type Port, serve, toPlain } from '../storage/channel.ts'
import type { AuthHost, AuthMethods, AuthSettings } from './auth-host.ts'

/** Opens sign-in in a thread of its own: better-auth takes long to load, and milliseconds per call. */
function openMethods(port: Port, { sendsMail, ...settings }: AuthSettings): AuthMethods {
  const { call: host } = connect<AuthHost>(port, () => {})
  const mailer: AuthMailer = {
    postLink: (...mail) => host('postLink', ...mail),
    postNotice: (...notice) => host('postNotice', ...notice),
  }
  const handle = createEmbeddedAuth({
    ...settings,
    db: createQueries((query, only) => host('execute', query, only)),
    mailer: sendsMail ? mailer : null,
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
      await loadCommonPasswords()
      freeMemory()
    },
    handle: async ({ headers, ...call }) => {
      const response = await handle({ ...call, headers: new Headers(headers) })
      const { status } = response
      return { status, headers: [...response.headers], body: await response.text() }
    },
  }
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
