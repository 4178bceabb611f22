import type { Problem } from '../../../pages/dashboard/parts/field.tsx'
import type { PageAnswer } from '../../pages/page.ts'
import { redirectTo } from './answer.ts'
import { errorForPage } from './call-api.ts'
import { type FormFields, toRefusal } from './problem.ts'
import type { AppRoute, UserVisit } from './visit.ts'

/** Renders the page that contains the forms. */
type Show = (
  visit: UserVisit,
  shown: { readonly error?: string; readonly problem?: Problem },
  status: number,
) => Promise<PageAnswer>

/** Returns the page to show, or the path of the page to redirect to. */
type Action = (visit: UserVisit) => Promise<PageAnswer | `/app${string}`>

/**
 * Routes for the forms of a page. The names of the actions are paths below `root`. `fields`: the fields of
 * the forms by their names in the API.
 */
export function formRoutes(
  root: `/app${string}`,
  show: Show,
  actions: Readonly<Record<string, Action>>,
  fields?: FormFields,
): AppRoute<UserVisit>[] {
  return Object.entries(actions).map(([name, act]) => ({
    method: 'post',
    path: `${root}${name}`,
    answer: catchErrors(show, act, fields),
  }))
}

/**
 * Performs the action. If the API answers with an error, `show` renders the page with its message, at one
 * of the `fields` if it is about that.
 */
export function catchErrors(
  show: Show,
  act: Action,
  fields: FormFields = {},
): AppRoute<UserVisit>['answer'] {
  return async (visit) => {
    try {
      const result = await act(visit)
      return typeof result === 'string' ? redirectTo(visit, result) : result
    } catch (error) {
      const refused = errorForPage(error)
      return show(visit, toRefusal(refused, fields), refused.status)
    }
  }
}
