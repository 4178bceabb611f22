import { raw } from 'hono/html'
import type { Done } from '../../../lib/accounts/kept-answers.ts'
import { FORM_ID } from '../../../lib/contract/pages.ts'
import { MINUTE_MS, SECOND_MS } from '../../../lib/parts/durations.ts'
import { ApiError } from '../../../lib/parts/errors.ts'
import type { Services } from '../../../lib/services/services.ts'
import type { PageAnswer } from '../../pages/page.ts'
import { addressId } from '../../request/limit.ts'
import { setsSession } from './cookies.ts'
import { readForm } from './form.ts'
import { FORM_TYPE } from './sign-in-first.ts'
import type { AppRoute, UserVisit, Visit } from './visit.ts'

const KEPT_MS = 10 * MINUTE_MS
/** Shorter, because the user may mend what the answer complains of, and send the same form again. */
const REFUSAL_MS = MINUTE_MS
/** Of answers that begin or end a session. Later, another sign-out or sign-in may have come between. */
const SESSION_MS = 15 * SECOND_MS

type FormRoute = Pick<AppRoute<never>, 'method' | 'maxBytes' | 'isRepeatable'>

/**
 * Answers a form so that it has one effect, and one answer, even if the browser sends it twice: after a double
 * click, where it drops the first answer, or on reload. A signed-in user must send both; the others must know the
 * random id and all fields, such as the password.
 */
export async function answerOnce<Kind extends Visit & Partial<Pick<UserVisit, 'me'>>>(
  visit: Kind,
  route: FormRoute & Pick<AppRoute<Kind>, 'answer'>,
): Promise<PageAnswer> {
  const form = await recognise(visit, route)
  if (form === null) return route.answer(visit)
  const { me, token, services } = visit
  const answer = async () => toKept(services, await route.answer(visit))
  if (me === undefined || token === null) return answerStranger(visit, form, answer)
  const id = [...form, 'user', me.id]
  const sent = { id, alias: ofSession(form, token), userId: me.id, body: '' }
  return toPage(await services.keptAnswers.answerOnce(sent, answer))
}

/**
 * Keeps no refusal, although copies that arrive meanwhile get it, and recognises no copies from an address with many
 * refusals: otherwise strangers could write to the database without limit.
 */
async function answerStranger(
  { services, exchange }: Visit,
  id: readonly string[],
  answer: () => Promise<Done<KeptPage>>,
): Promise<PageAnswer> {
  const { strangers } = services.limits
  const address = addressId(exchange)
  if (!strangers.take(address, services.now()).allowed) return toPage((await answer()).answer)
  const kept = await services.keptAnswers.answerOnce({ id, userId: null, body: '' }, async () => {
    const done = await answer()
    return done.answer.status < 400 ? done : { ...done, ms: null }
  })
  if (kept.status < 400) strangers.refund(address)
  return toPage(kept)
}

/**
 * The answer to a form that was sent before with this session, which the form itself has perhaps ended; null if
 * there is none.
 */
export async function findAnswer(
  visit: Visit & Pick<UserVisit, 'token'>,
  route: FormRoute,
): Promise<PageAnswer | null> {
  const form = await recognise(visit, route)
  if (form === null) return null
  const { keptAnswers } = visit.services
  const kept = await keptAnswers.find<KeptPage>(ofSession(form, visit.token), '')
  return kept === null ? null : toPage(kept)
}

/** Each copy of the form has these texts; null if the request is not a form with an id. */
async function recognise(
  { c }: Visit,
  { method, maxBytes, isRepeatable }: FormRoute,
): Promise<readonly string[] | null> {
  const isForm = (c.req.header('content-type') ?? '').startsWith(FORM_TYPE)
  if (method !== 'post' || isRepeatable === true || !isForm) return null
  try {
    const { body, text } = await readForm(c, maxBytes)
    return text(FORM_ID) === '' ? null : ['form', c.req.path, body]
  } catch (error) {
    // The route refuses the form in its own way.
    if (error instanceof ApiError) return null
    throw error
  }
}

function ofSession(form: readonly string[], token: string): readonly string[] {
  return [...form, 'session', token]
}

/** A page in JSON values. */
type KeptPage = Pick<PageAnswer, 'status' | 'headers' | 'cookies'> &
  ({ readonly html: string | null } | { readonly file: string; readonly type: string })

async function toKept(services: Services, page: PageAnswer): Promise<Done<KeptPage>> {
  const { secretOf, ...shown } = page
  return { answer: await toKeptPage(shown), ms: keptMs(services, page), secretOf }
}

/** Faults, and limits that are used up, pass: the next copy is answered anew. */
function keptMs(services: Services, { status, cookies = [] }: PageAnswer): number | null {
  if (status >= 500 || status === 429) return null
  if (setsSession(services, cookies)) return SESSION_MS
  return status < 400 ? KEPT_MS : REFUSAL_MS
}

async function toKeptPage(page: PageAnswer): Promise<KeptPage> {
  if ('file' in page) return { ...page, file: await new Response(page.file).text() }
  return { ...page, html: page.html === null ? null : `${await page.html}` }
}

function toPage(kept: KeptPage): PageAnswer {
  if ('file' in kept) return kept
  return { ...kept, html: kept.html === null ? null : raw(kept.html) }
}
