import type { Plan } from '../../lib/config/plans.ts'
import { Card } from '../dashboard/parts/card.tsx'
import { Option, Select } from '../dashboard/parts/field.tsx'
import type { PersonView } from './person-view.ts'

export interface PersonActionsProps {
  readonly base: string
  readonly person: PersonView
  /** Whether operators look at their own account. */
  readonly isSelf: boolean
  /** The plans that an operator can assign. */
  readonly plans: readonly Plan[]
  /** Whether sessions are kept here, not at an auth service. */
  readonly keepsSessions: boolean
}

/** What an operator can do. Each link leads to a page that asks first. */
export function PersonActions({ base, person, isSelf, plans, keepsSessions }: PersonActionsProps) {
  const path = `${base}/app/operate/people/${person.id}`
  const isOperator = person.role === 'operator'
  const isDisabled = person.disabledAt !== null
  const link = (name: string, text: string) => (
    <a class="button quiet" href={`${path}/${name}`}>
      {text}
    </a>
  )
  return (
    <Card id="actions" title="Actions">
      <form class="plan-choice" method="get" action={`${path}/plan`}>
        <Select name="to" label="Assigned plan">
          {plans.map(({ id, name }) => (
            <Option value={id} text={name} chosen={person.assignedPlan} />
          ))}
        </Select>
        <button type="submit" class="quiet">
          Set the plan…
        </button>
      </form>
      <div class="actions">
        {keepsSessions && link('sign-out', 'Sign out everywhere…')}
        {isDisabled && link('enable', 'Enable…')}
        {!isSelf && !isOperator && !isDisabled && link('disable', 'Disable…')}
        {!isSelf && !isOperator && !isDisabled && link('role?to=operator', 'Make an operator…')}
        {!isSelf && isOperator && link('role?to=user', 'Remove the operator role…')}
        {!isSelf && !isOperator && link('delete', 'Delete…')}
      </div>
    </Card>
  )
}
