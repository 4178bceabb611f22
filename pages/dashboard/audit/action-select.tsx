import { ACTION_LABELS } from '../../../lib/contract/account/audit-actions.ts'
import { Option, Select } from '../parts/field.tsx'
import { labelOf } from './audit-labels.ts'

/** In the order of their labels. */
const ACTIONS = Object.entries(ACTION_LABELS)
  .toSorted(([, one], [, other]) => one.localeCompare(other))
  .map(([action]) => action)

/** Operators' actions that concern no account. */
const OF_THE_SERVICE = new Set([
  'compare_billing',
  'create_backup',
  'download_databases',
  'remove_inquiry',
  'remove_notice',
  'retry_inquiry',
  'retry_notice',
  'run_doctor',
])

interface ActionSelectProps {
  readonly chosen: string
  /** Whether the log is that of all accounts. */
  readonly ofAllUsers?: boolean
}

/** Filters an audit log by action. Also offers a chosen action that we do not know. */
export function ActionSelect({ chosen, ofAllUsers = false }: ActionSelectProps) {
  const unknown = chosen === '' || Object.hasOwn(ACTION_LABELS, chosen) ? [] : [chosen]
  const offered = ACTIONS.filter(
    (action) => ofAllUsers || action === chosen || !OF_THE_SERVICE.has(action),
  )
  return (
    <Select name="action" label="Action">
      <Option value="" text="All actions" chosen={chosen} />
      {[...unknown, ...offered].map((action) => (
        <Option value={action} text={labelOf(action, ACTION_LABELS)} chosen={chosen} />
      ))}
    </Select>
  )
}
