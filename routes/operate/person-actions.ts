import { alignKeyExpiry } from '../../lib/access/key-expiry.ts'
import { deleteOtherSessions } from '../../lib/access/sessions.ts'
import { endSignIns } from '../../lib/access/sign-in/reset-tokens.ts'
import type { Person } from '../../lib/accounts/people.ts'
import {
  removeOperatorRole,
  setDisabled,
  updatePlan,
  updateRole,
} from '../../lib/accounts/users.ts'
import type { AuditNote } from '../../lib/contract/account/audit-actions.ts'
import { runInTransaction, type Statement } from '../../lib/db/transaction.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { createDeleteAccount } from '../../lib/services/delete-account.ts'
import type { UserVisit } from '../dashboard/request/visit.ts'
import { auditForUser, operatorEvent } from './action.ts'

/** The operator, the person whose account to change, and what it becomes: a plan or a role, else empty. */
export interface ActionRequest {
  readonly visit: UserVisit
  readonly person: Person
  readonly to: string
}

interface Question {
  readonly title: string
  /** What will happen. */
  readonly text: string
  /** The text of the button. */
  readonly button: string
  /** Whether the operator must type the address of the person. */
  readonly asksAddress?: true
}

export interface PersonAction {
  /** Returns what to ask the operator. Throws BAD_REQUEST if it cannot be done. */
  readonly ask: (request: ActionRequest) => Question
  /** Returns the cookies of the answer. */
  readonly perform: (request: ActionRequest) => Promise<readonly string[] | undefined>
}

/** By the last part of their path. */
export const PERSON_ACTIONS: Readonly<Record<string, PersonAction>> = {
  plan: {
    ask: ({ visit, person, to }) => {
      const plan = visit.services.plans.assignable.find(({ id }) => id === to)
      if (plan === undefined) throw refusal('Choose a plan')
      if (plan.id === person.assignedPlan)
        throw refusal(`The assigned plan is already ${plan.name}`)
      return {
        title: 'Set the plan?',
        text: `The assigned plan becomes ${plan.name}. It applies while there is no subscription at Stripe.`,
        button: `Set the plan to ${plan.name}`,
      }
    },
    perform: async (request) => {
      const { visit, person, to } = request
      const { db, plans, keys } = visit.services
      const alignment = alignKeyExpiry(db, plans, visit.exchange.now, person.id)
      const rows = auditRows(request, { action: 'change_plan', detail: to })
      await keys.change([updatePlan(db, person.id, to), alignment, ...rows])
    },
  },
  disable: {
    ask: ({ visit, person }) => {
      refuseSelf(visit, person)
      refuseOperator(person)
      if (person.disabledAt !== null) throw refusal('The account is disabled already')
      return {
        title: 'Disable the account?',
        text: 'Its sessions end, links that were mailed and its keys stop working, and nobody can sign in to it. No data is deleted, and a subscription goes on.',
        button: 'Disable',
      }
    },
    perform: async (request) => {
      const { visit, person } = request
      const { db, keys } = visit.services
      const isDone = await keys.change([
        setDisabled(db, person.id, visit.exchange.now),
        ...endSignIns(db, person.id),
        ...auditRows(request, { action: 'disable_account' }),
      ])
      if (!isDone) throw changedMeanwhile()
    },
  },
  enable: {
    ask: ({ person }) => {
      if (person.disabledAt === null) throw refusal('The account is not disabled')
      return {
        title: 'Enable the account?',
        text: 'Its keys work again, and its owner can sign in.',
        button: 'Enable',
      }
    },
    perform: async (request) => {
      const { visit, person } = request
      const { db, keys } = visit.services
      const isDone = await keys.change([
        setDisabled(db, person.id, null),
        ...auditRows(request, { action: 'enable_account' }),
      ])
      if (!isDone) throw changedMeanwhile()
    },
  },
  'sign-out': {
    ask: ({ visit }) => {
      const { authUrl } = visit.services.config
      if (authUrl !== undefined) throw refusal(`Sessions are kept by the auth service: ${authUrl}`)
      return {
        title: 'Sign out everywhere?',
        text: 'All sessions of the account end. Its keys go on.',
        button: 'Sign out everywhere',
      }
    },
    perform: async (request) => {
      const { visit, person } = request
      const { db } = visit.services
      const isDone = await runInTransaction(db, [
        deleteOtherSessions(db, person.id, undefined),
        ...auditRows(request, { action: 'end_session', detail: 'all' }),
      ])
      if (!isDone) throw refusal('The account has no session')
    },
  },
  role: {
    ask: ({ visit, person, to }) => {
      if (to !== 'operator' && to !== 'user') throw refusal('Choose a role')
      refuseSelf(visit, person)
      if (to === person.role) throw refusal(`The role is ${to} already`)
      if (to === 'user') return TAKE_ROLE
      if (person.disabledAt !== null) throw refusal('The account is disabled')
      return GIVE_ROLE
    },
    perform: async (request) => {
      const { visit, person, to } = request
      const { db } = visit.services
      const change =
        to === 'operator'
          ? updateRole(db, person.id, 'operator')
          : removeOperatorRole(db, person.id)
      const rows = auditRows(request, { action: 'set_role', detail: to })
      if (!(await runInTransaction(db, [change, ...rows]))) throw changedMeanwhile()
    },
  },
  delete: {
    ask: ({ visit, person }) => {
      refuseSelf(visit, person)
      refuseOperator(person)
      return {
        title: 'Delete the account?',
        text: 'Its subscription ends, and all its keys, sites and data are deleted for good.',
        button: 'Delete for good',
        asksAddress: true,
      }
    },
    perform: async ({ visit, person }) => {
      const note = { action: 'delete_account', targetType: 'user', targetId: person.id } as const
      const event = operatorEvent(visit, note)
      if (!(await createDeleteAccount(visit.services)(person.id, event))) throw changedMeanwhile()
    },
  },
}

const GIVE_ROLE: Question = {
  title: 'Make the person an operator?',
  text: 'Operators see and change all accounts of this instance.',
  button: 'Make an operator',
}

const TAKE_ROLE: Question = {
  title: 'Remove the operator role?',
  text: 'The person keeps their own account but no longer sees others.',
  button: 'Remove the role',
}

export function auditRows({ visit, person }: ActionRequest, note: AuditNote): Statement[] {
  return auditForUser(visit, { id: person.id, name: person.email }, note)
}

export function refuseSelf({ me }: UserVisit, { id }: Person): void {
  if (id === me.id) throw refusal('Another operator must do this: it is your own account')
}

function refuseOperator({ role }: Person): void {
  if (role === 'operator') throw refusal('Remove the operator role first')
}

export function refusal(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message)
}

/** Another operator was faster. */
function changedMeanwhile(): ApiError {
  return refusal('The account has changed in the meantime: reload the page')
}
