import type { AuditLogEntry } from '../../../lib/contract/account/account-schemas.ts'
import { ACTION_LABELS } from '../../../lib/contract/account/audit-actions.ts'
import { FactList } from '../../fact-list.tsx'
import { Given } from '../parts/given.tsx'
import { APP_LABELS, labelOf } from './audit-labels.ts'

/** In whose log an entry is. */
interface Account {
  /** null: the account is deleted. */
  readonly email: string | null
  /** The path of its page. */
  readonly path: string
}

interface AuditEntryProps {
  readonly entry: AuditLogEntry
  /** Absent: the log is that of one account. */
  readonly account?: Account
}

/** One action: what was done, by whom and when in a line, which opens the names that programs use. */
export function AuditEntry({ entry, account }: AuditEntryProps) {
  const { action, detail, target_type, target_id, app } = entry
  const at = new Date(entry.created_at * 1000).toISOString()
  const actor = actorOf(entry)
  const owner = account && (account.email ?? entry.actor_id)
  return (
    <li>
      <details>
        <summary>
          <span>
            <strong>{labelOf(action, ACTION_LABELS)}</strong>{' '}
            {detail !== null && <Given text={detail} />}
          </span>
          <span class="soft">
            by <Given text={actor} /> · {labelOf(app, APP_LABELS)} ·{' '}
            {owner !== undefined && owner !== actor && (
              <>
                account <Given text={owner} /> ·{' '}
              </>
            )}
            <time class="whole" datetime={at}>
              {at.slice(0, 19).replace('T', ' ')}
            </time>
          </span>
        </summary>
        <FactList
          facts={[
            ['Action', action],
            ['Target', target_type?.replaceAll('_', ' ')],
            ['Account', account && <AccountLink {...account} id={entry.actor_id} />],
            ['Target id', target_id === null ? undefined : <code>{target_id}</code>],
          ]}
        />
      </details>
    </li>
  )
}

function AccountLink({ email, path, id }: Account & { readonly id: string }) {
  return email === null ? <code>{id}</code> : <a href={path}>{email}</a>
}

/** Changes that Stripe makes are in the log of the user whose subscription they change. */
function actorOf({ app, actor_label, actor_id }: AuditLogEntry): string {
  if (app === 'stripe') return 'Stripe'
  return actor_label ?? actor_id
}
