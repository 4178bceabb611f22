import type { Child } from 'hono/jsx'
import type { AuditLogEntry } from '../../../lib/contract/account/account-schemas.ts'
import { ACTION_LABELS } from '../../../lib/contract/account/audit-actions.ts'
import { Given } from '../parts/given.tsx'
import { APP_LABELS, labelOf } from './audit-labels.ts'

interface AuditEntryProps {
  readonly entry: AuditLogEntry
  /** Shown below. */
  readonly children?: Child
}

/** One action: what was done, when and by whom. */
export function AuditEntry({ entry, children }: AuditEntryProps) {
  const at = new Date(entry.created_at * 1000).toISOString()
  return (
    <li class="entry">
      <time datetime={at}>{at.slice(0, 19).replace('T', ' ')}</time>
      <div class="what">
        <p>
          <strong>{labelOf(entry.action, ACTION_LABELS)}</strong>{' '}
          <code class="soft">{entry.action}</code>
        </p>
        {entry.detail !== null && <p class="detail">{entry.detail}</p>}
        <p class="soft small">
          by <Given text={actorOf(entry)} />
          {entry.target_type !== null && ` · ${entry.target_type.replaceAll('_', ' ')}`}
          {entry.target_id !== null && (
            <>
              {' '}
              <code>{entry.target_id}</code>
            </>
          )}
        </p>
        {children}
      </div>
      <span class="badge">{labelOf(entry.app, APP_LABELS)}</span>
    </li>
  )
}

/** Changes that Stripe makes are in the log of the user whose subscription they change. */
function actorOf({ app, actor_label, actor_id }: AuditLogEntry): string {
  if (app === 'stripe') return 'Stripe'
  return actor_label ?? actor_id
}
