import { setTimeout as wait } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { atomically } from '../atomic.ts'
import type { World } from '../world.ts'
import { type Answer, injected, toResponse, unrecognized } from './answer.ts'
import type { ApiFault, ApiFaults } from './api-faults.ts'
import type { ApiCall } from './call.ts'
import { expand } from './expand.ts'
import { type Form, parseForm } from './form.ts'
import { createIdempotency } from './idempotency.ts'
import { operations } from './operations.ts'
import type { Route } from './route.ts'
import { badRequest, StripeDoubleError } from './stripe-error.ts'

export interface ApiOptions {
  readonly world: World
  readonly faults: ApiFaults
  /** Does what time has brought since the last call. */
  readonly tick: () => void
  readonly onCall: (call: ApiCall) => void
}

interface Request {
  readonly context: Context
  readonly query: string
  readonly body: string
}

type Env = { Bindings: HttpBindings }

/** Stripe's own paths, `/v1/...`. */
export function createApi({ world, faults, tick, onCall }: ApiOptions) {
  const kept = createIdempotency()
  const api = new Hono<Env>()
  const answerTo = async (route: Route, context: Context<Env>) => {
    const request = await readRequest(context)
    const answer = settle(() => {
      tick()
      return answerOnce(request, kept, () => run(world, route, request))
    })
    const { method, path } = context.req
    onCall({ method, path: path + request.query, body: request.body, status: answer.status })
    return answer
  }
  for (const route of operations) {
    api.on(route.method, route.path, async (context) => {
      const fault = faults.take(route.method)
      return (
        (await failFirst(fault, context)) ?? failAfter(fault, context, answerTo(route, context))
      )
    })
  }
  api.all('*', ({ req }) => toResponse(unrecognized(req.method, req.path)))
  return api
}

/** The answer of a fault that comes before anything is done, or null. */
async function failFirst(fault: ApiFault | null, context: Context<Env>): Promise<Response | null> {
  switch (fault?.kind) {
    case 'slow':
      await pause(fault.delayMs)
      return null
    case 'reset':
      return cut(context)
    case '403':
    case '429':
    case '500':
      return toResponse(injected(fault.kind))
    default:
      return null
  }
}

async function failAfter(
  fault: ApiFault | null,
  context: Context<Env>,
  answer: Promise<Answer>,
): Promise<Response> {
  const made = await answer
  if (fault?.kind === 'late') await pause(fault.delayMs)
  return fault?.kind === 'lost' ? cut(context) : toResponse(made)
}

/** Does not outlive the double. */
async function pause(delayMs: number): Promise<void> {
  await wait(delayMs, undefined, { ref: false })
}

async function readRequest(context: Context): Promise<Request> {
  return { context, query: new URL(context.req.url).search, body: await context.req.text() }
}

/** Without a wait in between: no other call can come between the look and the keeping. */
function answerOnce(
  { context, body }: Request,
  kept: ReturnType<typeof createIdempotency>,
  answer: () => Answer,
): Answer {
  requireKey(context.req.header('authorization'))
  const key = context.req.header('idempotency-key')
  const { method, path } = context.req
  if (method !== 'POST' || key === undefined) return answer()
  const fingerprint = `${path}?${body}`
  const found = kept.find(key, fingerprint)
  if (found !== null) return { ...found, replayed: true }
  const made = settle(answer)
  kept.keep(key, fingerprint, made)
  return made
}

function run(world: World, route: Route, { context, query, body }: Request): Answer {
  const { expand: paths, ...form } = parseForm([query.slice(1), body].filter(Boolean).join('&'))
  const { id = '', nested = '' } = context.req.param()
  const answer = (inner: World) =>
    expand(inner, route.answer(inner, form, { id, nested }), toPaths(paths))
  return { status: 200, body: route.method === 'GET' ? answer(world) : atomically(world, answer) }
}

function toPaths(paths: Form[string] | undefined): string[] {
  if (paths === undefined) return []
  if (Array.isArray(paths)) return paths.map(String)
  throw badRequest('Invalid array', { param: 'expand' })
}

/** Errors of Stripe become answers; others are bugs of the double, and are told as such. */
function settle(answer: () => Answer): Answer {
  try {
    return answer()
  } catch (error) {
    if (error instanceof StripeDoubleError) return { status: error.status, body: error.body }
    const message = `The double failed: ${error instanceof Error ? error.stack : String(error)}`
    return { status: 500, body: { error: { type: 'api_error', message } } }
  }
}

function requireKey(authorization = ''): void {
  // Keys of live mode are refused: nobody is to take the double for the real one.
  if (/^Bearer [sr]k_test_\w+$/.test(authorization)) return
  throw new StripeDoubleError({
    status: 401,
    type: 'invalid_request_error',
    message: 'Invalid API Key provided: the double takes keys of test mode only',
  })
}

/** Cuts the connection without an answer. */
function cut(context: Context<Env>): Response {
  context.env.incoming.socket.resetAndDestroy()
  return new Response(null)
}
