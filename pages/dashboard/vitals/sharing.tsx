import { minuteText } from '../../time-text.ts'
import { Copyable } from '../parts/copyable.tsx'
import { Option, type Problem, Select } from '../parts/field.tsx'
import { Fold } from '../parts/fold.tsx'
import { Confirm, Form } from '../parts/form.tsx'
import { counted } from '../parts/format.ts'
import { Time } from '../parts/time.tsx'

interface SharingProps {
  /** Builds the target of a form: a path below that of the page. */
  readonly actionOf: (path: string) => string
  /** The links that work. */
  readonly links: readonly SharedLink[]
  /** The number of links that may work at the same time. */
  readonly most: number
  /** The choices for how long a link works. */
  readonly days: readonly number[]
  /** The address of the link that was just made; null if none was. */
  readonly created: string | null
  readonly problem?: Problem | undefined
}

interface SharedLink {
  readonly id: string
  /** ISO 8601. */
  readonly createdAt: string
  /** ISO 8601. */
  readonly expiresAt: string
}

/** Makes and revokes links that show these vitals to others. */
export function Sharing({ actionOf, links, most, days, created, problem }: SharingProps) {
  return (
    <Fold
      id="share"
      title="Share"
      glance={links.length === 0 ? 'No links' : counted(links.length, 'link', 'links')}
      isOpen={created !== null || problem !== undefined}
    >
      {created !== null && (
        <>
          <p role="status">
            Copy the link now: it is shown for ten minutes, and cannot be read later.
          </p>
          <Copyable id="shared-link" text={created} />
        </>
      )}
      <p>
        Whoever has a link sees the vitals of this site without signing in, those still to come
        included: pages, countries, devices and elements, but no errors, and nothing else of your
        account.
      </p>
      {links.map(({ id, createdAt, expiresAt }) => (
        <div class="actions">
          <span>
            Made <Time at={createdAt} />, works until <Time at={expiresAt} />
          </span>
          <Confirm
            summary="Revoke…"
            label={`Revoke the link that works until ${minuteText(Date.parse(expiresAt), null)}…`}
            action={actionOf(`/links/${id}/revoke`)}
            text="Revoke permanently"
          >
            <p>The link will stop working at once.</p>
          </Confirm>
        </div>
      ))}
      {links.length < most ? (
        <Form action={actionOf('/links')} text="Make a link">
          <Select name="days" label="The link works for" problem={problem}>
            {days.map((count) => (
              <Option value={String(count)} text={`${count} days`} chosen={String(days[0])} />
            ))}
          </Select>
        </Form>
      ) : (
        <p>A site has at most {most} links. To make another, revoke one.</p>
      )}
    </Fold>
  )
}
