import type { Field, Shape } from '../../lib/openapi/fields.ts'
import { counted } from '../dashboard/parts/format.ts'
import { Line } from './prose.tsx'

/** Longer lists of values are folded. */
const MAX_VALUES = 8

interface FieldTableProps {
  readonly fields: readonly Field[]
  /** Of the first column, such as `Parameter`. */
  readonly head?: string
}

/** Fields with their types in words; the fields of objects are folded. */
export function FieldTable({ fields, head = 'Field' }: FieldTableProps) {
  return (
    <table class="fields">
      <thead>
        <tr>
          <th scope="col">{head}</th>
          <th scope="col">Type</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <tr>
            <th scope="row">
              <code>{field.name}</code>
              {field.isRequired && <span class="required">required</span>}
            </th>
            <td>{[field.type, ...field.rules].join('; ')}</td>
            <td>
              <Line text={field.description} />
              <Values values={field.values} />
              <Shapes shapes={field.shapes} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Values({ values }: Pick<Field, 'values'>) {
  const [only] = values
  if (only === undefined) return null
  const listed = values.map((value, at) => (
    <>
      {at > 0 && ', '}
      <code>{value}</code>
    </>
  ))
  if (values.length > MAX_VALUES) {
    return (
      <details>
        <summary>One of {values.length} values</summary>
        <p>{listed}</p>
      </details>
    )
  }
  return (
    <p class="values">
      {values.length === 1 ? 'Only ' : 'One of '}
      {listed}
    </p>
  )
}

/** The fields of one object, or of several kinds of object, folded. */
export function Shapes({ shapes }: { readonly shapes: readonly Shape[] }) {
  return (
    <>
      {shapes.map(({ name, fields }) => (
        <details>
          <summary>
            {counted(fields.length, 'field', 'fields')}
            {name !== '' && ` of ${name}`}
          </summary>
          <FieldTable fields={fields} />
        </details>
      ))}
    </>
  )
}
