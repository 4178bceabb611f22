import { insertResetToken, resetLink } from '../../lib/access/sign-in/reset-tokens.ts'
import { removeSecondFactor } from '../../lib/accounts/second-factor/second-factor.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { shownCookie } from '../dashboard/request/shown-secret.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import { auditForUser } from './action.ts'
import { auditRows, type PersonAction, refusal, refuseSelf } from './person-actions.ts'

/** How an operator helps somebody to sign in, by the last part of the path. */
export const SIGN_IN_ACTIONS: Readonly<Record<string, PersonAction>> = {
  link: {
    ask: ({ visit, person }) => {
      requireOwnPasswords(visit)
      refuseSelf(visit, person)
      if (person.disabledAt !== null) throw refusal('The account is disabled')
      return visit.services.mails.isOn ? MAIL_LINK : SHOW_LINK
    },
    perform: ({ visit, person }) => offerPasswordLink(visit, person, 'reset_password'),
  },
  'second-factor': {
    ask: ({ visit, person }) => {
      requireOwnPasswords(visit)
      refuseSelf(visit, person)
      return {
        title: 'Turn off the second factor?',
        text: 'Signing in then takes only the password. Make sure that the person asks for it, and nobody else.',
        button: 'Turn off the second factor',
      }
    },
    perform: async (request) => {
      const { visit, person } = request
      const { db, mails } = visit.services
      const isDone = await runInTransaction(db, [
        removeSecondFactor(db, person.id),
        ...auditRows(request, { action: 'disable_two_factor' }),
        ...mails.notify(person.id, 'second_factor_off', visit.exchange.now),
      ])
      if (!isDone) throw refusal('The account has no second factor')
      return []
    },
  },
}

const LINK_TITLE = 'Send a link to choose a password?'

const MAIL_LINK = {
  title: LINK_TITLE,
  text: 'The link is mailed to this address, and is valid once, for an hour.',
  button: 'Send the link',
}

const SHOW_LINK = {
  title: LINK_TITLE,
  text: 'This service sends no mail, so the next page shows the link, which is valid once, for an hour. Whoever opens it can sign in as this person.',
  button: 'Make the link',
}

/**
 * Mails the person a link to choose a password. Without a mail server, returns the cookie by which the page about
 * the person shows the link to this operator.
 */
export async function offerPasswordLink(
  visit: UserVisit,
  user: { readonly id: string; readonly email: string },
  kind: 'invite' | 'reset_password',
): Promise<readonly string[]> {
  const { db, mails, baseUrl } = visit.services
  const { id, email } = user
  const { token, statement } = insertResetToken(db, id, visit.exchange.now)
  const rows = auditForUser(visit, { id, name: email }, { action: 'link_account' })
  if (mails.isOn) {
    await mails.postLink({ user: { id, email }, kind, query: { token } }, [statement, ...rows])
    return []
  }
  await runInTransaction(db, [statement, ...rows])
  return [await shownCookie(visit, id, resetLink(baseUrl(), token))]
}

function requireOwnPasswords({ services: { config } }: UserVisit): void {
  if (config.authUrl === undefined) return
  throw refusal(`Passwords are kept by the auth service: ${config.authUrl}`)
}
