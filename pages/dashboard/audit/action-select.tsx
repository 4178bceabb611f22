import { Option, Select } from '../parts/field.tsx'
import { ACTION_LABELS, labelOf } from './audit-labels.ts'

/** In the order of their labels. */
const ACTIONS = Object.entries(ACTION_LABELS)
  .toSorted(([, one], [, other]) => one.localeCompare(other))
  .map(([action]) => action)

/** Filters an audit log by action. Also offers a chosen action that we do not know. */
export function ActionSelect({ chosen }: { readonly chosen: string }) {
  const unknown = chosen === '' || Object.hasOwn(ACTION_LABELS, chosen) ? [] : [chosen]
  return (
    <Select name="action" label="Action">
      <Option value="" text="All actions" chosen={chosen} />
      {[...unknown, ...ACTIONS].map((action) => (
        <Option value={action} text={labelOf(action, ACTION_LABELS)} chosen={chosen} />
      ))}
    </Select>
  )
}
