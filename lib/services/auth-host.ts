import { Worker } from 'node:worker_threads'
import type { NewPlans } from '../access/new-plans.ts'
import type { AuthMailer } from '../access/sign-in/auth-mail.ts'
import type { AuthCall, HandleAuth, PasswordResets } from '../access/sign-in/embedded-auth.ts'
import type { SecondStep } from '../access/sign-in/second-step.ts'
import type { Execute } from '../db/engine.ts'
import { codeUrl } from '../parts/clone-or-package.ts'
import { connect, fromPlain, serve } from '../storage/channel.ts'
import type { Foundation } from './foundation.ts'

/** better-auth needs a third of this. With a larger heap, garbage is only collected later. */
const LIMITS = { maxOldGenerationSizeMb: 64 }

/** The settings of sign-in, in a form that can be copied to another thread. */
export interface AuthSettings {
  readonly secret: string
  /** Address of this service, without a slash at the end. */
  readonly baseUrl: string
  readonly newPlans: NewPlans
  readonly allowSignUp: boolean
  readonly sendsMail: boolean
}

/** The methods of this thread that the sign-in thread calls. */
export interface AuthHost extends PasswordResets, SecondStep, AuthMailer {
  readonly execute: Execute
  readonly log: (level: 'warn' | 'error', fields: object, message: string) => Promise<void>
}

export type PlainCall = Omit<AuthCall, 'headers'> & { readonly headers: [string, string][] }

export interface PlainResponse {
  readonly status: number
  readonly headers: [string, string][]
  readonly body: string
}

/** The methods of the sign-in thread that this thread calls. */
export interface AuthMethods {
  /** Resolves once everything is loaded. */
  readonly ready: () => Promise<void>
  readonly handle: (call: PlainCall) => Promise<PlainResponse>
}

/** Starts sign-in in a thread of its own. Rejects if it cannot be loaded. */
export async function startAuth(
  {
    db,
    log,
    onCrash,
  }: Pick<Foundation, 'db' | 'log'> & { readonly onCrash: (error: unknown) => void },
  answers: PasswordResets & SecondStep & AuthMailer,
  settings: AuthSettings,
) {
  const url = codeUrl('./auth-thread', import.meta.url)
  const worker = new Worker(url, {
    name: 'auth',
    workerData: settings,
    execArgv: [],
    resourceLimits: LIMITS,
  })
  const host: AuthHost = {
    execute: db.execute,
    ...answers,
    log: async (level, { err, ...fields }: { readonly err?: unknown }, message) =>
      log[level]({ ...fields, ...(err !== undefined && { err: fromPlain(err) }) }, message),
  }
  serve<AuthHost>(worker, () => host)
  const { call, end } = connect<AuthMethods>(worker, (err, message) => log.error({ err }, message))
  try {
    const failed = new Promise<never>((_, reject) => worker.once('error', reject))
    await Promise.race([call('ready'), failed])
  } catch (error) {
    await worker.terminate()
    throw error
  }
  const crashed = (code: number) => onCrash(new Error(`the auth thread has ended with ${code}`))
  worker.on('error', onCrash)
  worker.on('exit', crashed)
  const handle: HandleAuth = async ({ headers, ...rest }) => {
    const { body, ...answer } = await call('handle', { ...rest, headers: [...headers] })
    return new Response(body === '' ? null : body, answer)
  }
  return {
    handle,
    [Symbol.asyncDispose]: async () => {
      worker.off('exit', crashed)
      await worker.terminate()
      end()
    },
  }
}
