import type { PageAnswer } from '../page.ts'
import { refusalOf } from './ask.ts'
import type { AppRoute, UserVisit } from './visit.ts'

type Show = (
  visit: UserVisit,
  shown: { readonly trouble: string },
  status: number,
) => Promise<PageAnswer>

/** Answers, and says on the page that `show` makes what the API refuses. */
export function sayOn(
  show: Show,
  answer: AppRoute<UserVisit>['answer'],
): AppRoute<UserVisit>['answer'] {
  return async (visit) => {
    try {
      return await answer(visit)
    } catch (error) {
      const { message, status } = refusalOf(error)
      return show(visit, { trouble: message }, status)
    }
  }
}
