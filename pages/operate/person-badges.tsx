import type { PersonView } from './person-view.ts'

interface PersonBadgesProps {
  readonly person: Pick<PersonView, 'disabledAt' | 'emailVerified' | 'role'>
}

/** What is special about the account. */
export function PersonBadges({ person: { disabledAt, emailVerified, role } }: PersonBadgesProps) {
  return (
    <span class="badges">
      {disabledAt !== null && <span class="badge error">Disabled</span>}
      {role === 'operator' && <span class="badge good">Operator</span>}
      {!emailVerified && <span class="badge">Not verified</span>}
    </span>
  )
}
