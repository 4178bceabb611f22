import { setTimeout as wait } from 'node:timers/promises'
import type { HttpBindings } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { atomically } from '../atomic.ts'
import type { StripeDouble } from '../double.ts'
import type { World } from '../world.ts'
import { type Answer, injected, toResponse, unrecognized } from './answer.ts'
import type { ApiFault } from './api-faults.ts'
import { expand } from './expand.ts'
import { type Form, parseForm } from './form.ts'
import { createIdempotency } from './idempotency.ts'
import { operations } from './operations.ts'
import type { Route } from './route.ts'
import { badRequest, StripeDoubleError } from './stripe-error.ts'

type ApiContext = Context<{ Bindings: HttpBindings }>

/** Serves Stripe's own paths, `/v1/...`. */
export function createApi(double: StripeDouble) {
  const api = new Hono<{ Bindings: HttpBindings }>()
  const answerOnce = createIdempotency()
  const answerTo = async (route: Route, { req }: ApiContext) => {
    const body = await req.text()
    const query = new URL(req.url).search
    // Synchronous: no other call runs between the check of an idempotency key and its storage.
    const answer = settle(() => {
      double.tick()
      requireKey(req.header('authorization'))
      const form = parseForm([query.slice(1), body].filter(Boolean).join('&'))
      const act = () => settle(() => run(double.world, route, { form, ids: req.param() }))
      const key = route.method === 'POST' ? req.header('idempotency-key') : undefined
      return key === undefined ? act() : answerOnce(key, `${req.path}?${body}`, act)
    })
    double.recordCall({ method: req.method, path: req.path + query, body, status: answer.status })
    return answer
  }
  for (const route of operations) {
    api.on(route.method, route.path, (context) =>
      respond(double.takeFault(route.method), context, () => answerTo(route, context)),
    )
  }
  api.all('*', ({ req }) => toResponse(unrecognized(req.method, req.path)))
  return api
}

/** Does the call and sends its answer, unless the fault prevents it. */
async function respond(
  fault: ApiFault | null,
  context: ApiContext,
  answer: () => Promise<Answer>,
): Promise<Response> {
  const kind = fault?.kind
  if (kind === '403' || kind === '429' || kind === '500') return toResponse(injected(kind))
  if (kind === 'reset') return cut(context)
  if (fault?.kind === 'slow') await pause(fault.delayMs)
  const made = await answer()
  if (kind === 'lost') return cut(context)
  if (fault?.kind === 'late') await pause(fault.delayMs)
  return toResponse(made)
}

/** Waits without keeping the process alive. */
async function pause(delayMs: number): Promise<void> {
  await wait(delayMs, undefined, { ref: false })
}

/** Runs the operation. Calls other than GET change everything or nothing. */
function run(
  world: World,
  { method, answer }: Route,
  { form: { expand: paths, ...form }, ids }: { form: Form; ids: Record<string, string> },
): Answer {
  const { id = '', nested = '' } = ids
  const act = (inner: World) => expand(inner, answer(inner, form, { id, nested }), toPaths(paths))
  return { status: 200, body: method === 'GET' ? act(world) : atomically(world, act) }
}

function toPaths(paths: Form[string] = []): string[] {
  if (Array.isArray(paths)) return paths.map(String)
  throw badRequest('Invalid array', { param: 'expand' })
}

/** Turns Stripe's errors into answers. Any other error is a bug of the double, answered with 500. */
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
  // Live keys are refused, so that nobody mistakes the double for Stripe.
  if (/^Bearer [sr]k_test_\w+$/.test(authorization)) return
  throw new StripeDoubleError({
    status: 401,
    type: 'invalid_request_error',
    message: 'Invalid API Key provided: the double accepts test mode keys only',
  })
}

/** Resets the connection without an answer. */
function cut(context: ApiContext): Response {
  context.env.incoming.socket.resetAndDestroy()
  return new Response(null)
}
