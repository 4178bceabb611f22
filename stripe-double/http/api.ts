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
import { createIdempotency, keyInUse } from './idempotency.ts'
import { operations } from './operations.ts'
import type { Route } from './route.ts'
import { badRequest, StripeDoubleError } from './stripe-error.ts'

type ApiContext = Context<{ Bindings: HttpBindings }>

/** Serves Stripe's own paths, `/v1/...` and `/v2/...`. */
export function createApi(double: StripeDouble) {
  const api = new Hono<{ Bindings: HttpBindings }>()
  const kept = createIdempotency(double.now)
  const answerTo = async (route: Route, { req }: ApiContext, fault: ApiFault | null) => {
    const body = await req.text()
    const query = new URL(req.url).search
    const key = route.method === 'POST' ? req.header('idempotency-key') : undefined
    const keyed = key === undefined ? null : { key, fingerprint: `${req.path}?${body}` }
    const use = keyed && kept.begin(keyed.key)
    if (keyed !== null && use === null) return keyInUse()
    if (fault?.kind === 'slow') await pause(fault.delayMs)
    const answer = settle(() => {
      double.tick()
      requireKey(req.header('authorization'))
      const earlier = keyed && kept.find(keyed)
      if (earlier !== null) return earlier
      const form = readForm(req.path, query.slice(1), body)
      const act = begin(double.world, route, { form, ids: req.param() })
      const made = disturb(fault, act, keyed === null ? undefined : false)
      if (keyed !== null) kept.keep(keyed, made)
      return made
    })
    use?.release()
    const path = req.path + query
    const { status } = answer
    double.recordCall({ method: req.method, path, body, status, answer: answer.body })
    return answer
  }
  for (const route of operations) {
    api.on(route.method, route.path, (context) => {
      const fault = double.takeFault(route.method)
      return respond(fault, context, () => answerTo(route, context, fault))
    })
  }
  api.all('*', ({ req }) => toResponse(unrecognized(req.method, req.path)))
  return api
}

/** Version 2 takes JSON. */
function readForm(path: string, query: string, body: string): Form {
  if (path.startsWith('/v2/')) return JSON.parse(body)
  return parseForm([query, body].filter(Boolean).join('&'))
}

/** Sends the answer to the call, unless the fault prevents it. */
async function respond(
  fault: ApiFault | null,
  context: ApiContext,
  answer: () => Promise<Answer>,
): Promise<Response> {
  switch (fault?.kind) {
    case '403':
    case '429':
    case 'locked':
      return toResponse(injected(fault.kind, fault.shouldRetry))
    case 'answer':
      return new Response(fault.text, { status: fault.status })
    case 'reset':
      return cut(context)
  }
  const made = await answer()
  if (fault?.kind === 'lost') return cut(context)
  if (fault?.kind === 'late') await pause(fault.delayMs)
  return toResponse(made)
}

/** Runs the call, or fails as the fault says. `advice` is what Stripe says about repeating a 500. */
function disturb(fault: ApiFault | null, act: () => Answer, advice: boolean | undefined): Answer {
  if (fault?.kind !== '500' && fault?.kind !== '500 done') return settle(act)
  if (fault.kind === '500 done') settle(act)
  return injected('500', fault.shouldRetry ?? advice)
}

/** Waits without keeping the process alive. */
async function pause(delayMs: number): Promise<void> {
  await wait(delayMs, undefined, { ref: false })
}

/** Checks the parameters. The returned function runs the call, which changes everything or nothing. */
function begin(
  world: World,
  { method, begin: prepare }: Route,
  { form: { expand: paths, ...form }, ids }: { form: Form; ids: Record<string, string> },
): () => Answer {
  const { id = '', nested = '' } = ids
  const expanded = toPaths(paths)
  const run = prepare(form, { id, nested })
  const act = (inner: World) => expand(inner, run(inner), expanded)
  return () => ({ status: 200, body: method === 'GET' ? act(world) : atomically(world, act) })
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
