import type { Plan } from '../../lib/config/plans.ts'
import { Field, Option, Select } from '../dashboard/parts/field.tsx'
import { Form } from '../dashboard/parts/form.tsx'
import { type PageProps, Result } from '../dashboard/parts/notice.tsx'

interface NewPersonProps extends PageProps {
  readonly plans: readonly Plan[]
  /** How the new person gets a password. */
  readonly invitation: 'mail' | 'link' | 'auth service'
  /** What the form contains. */
  readonly typed: { readonly email: string; readonly plan: string }
}

const INVITATIONS: Readonly<Record<NewPersonProps['invitation'], string>> = {
  mail: 'A mail with a link invites its owner to choose a password within an hour.',
  link: 'This service sends no mail: the next page shows a link to choose a password within an hour. Give it to the owner of the address alone.',
  'auth service': 'Its owner signs in at your auth service, which keeps the passwords.',
}

/** The page on which an operator creates an account. */
export function NewPerson({ base, plans, invitation, typed, error, problem }: NewPersonProps) {
  const people = `${base}/app/operate/people`
  return (
    <>
      <Result error={error} />
      <section class="card" aria-label="New account">
        <p>{INVITATIONS[invitation]}</p>
        <Form
          action={people}
          text="Create account"
          instead={{ href: people, text: 'Back to the people' }}
        >
          <Field
            name="newEmail"
            label="E-mail address"
            type="email"
            value={typed.email}
            autocomplete="off"
            maxlength={320}
            problem={problem}
            required
          />
          <Select name="newPlan" label="Plan" problem={problem}>
            {plans.map(({ id, name }) => (
              <Option value={id} text={name} chosen={typed.plan} />
            ))}
          </Select>
        </Form>
      </section>
    </>
  )
}
