import type { Field, Shape } from '../../lib/openapi/fields.ts'
import { Line, Prose } from './prose.tsx'

/** Longer lists of values are folded. */
const MAX_VALUES = 8

/** The field of a request may be required; the field of an answer may be missing. */
type Direction = 'request' | 'answer'

interface FieldListProps {
  readonly fields: readonly Field[]
  readonly of: Direction
}

/** A line for each field. The line of an object opens its fields. */
export function FieldList({ fields, of }: FieldListProps) {
  return (
    <ul class="fields">
      {fields.map((field) => (
        <li>
          <FieldItem field={field} of={of} />
        </li>
      ))}
    </ul>
  )
}

interface ShapeListsProps {
  readonly shapes: readonly Shape[]
  readonly of: Direction
}

/** The fields of one object, or of several kinds of object with their names. */
export function ShapeLists({ shapes, of }: ShapeListsProps) {
  return (
    <>
      {shapes.map(({ name, fields }) => (
        <>
          {shapes.length > 1 && name !== '' && <p class="soft">{name}</p>}
          <FieldList fields={fields} of={of} />
        </>
      ))}
    </>
  )
}

interface FieldItemProps {
  readonly field: Field
  readonly of: Direction
}

function FieldItem({ field, of }: FieldItemProps) {
  const { shapes, values } = field
  const isLong = values.length > MAX_VALUES
  if (shapes.length === 0 && !isLong) return <FieldLine field={field} of={of} />
  return (
    <details>
      <summary>
        <FieldLine field={field} of={of} />
      </summary>
      {isLong && (
        <p>
          <Values values={values} />
        </p>
      )}
      <ShapeLists shapes={shapes} of={of} />
    </details>
  )
}

/** What the field is in one line, what it means below. */
function FieldLine({ field, of }: FieldItemProps) {
  const { name, isRequired, type, rules } = field
  const presence = of === 'answer' && !isRequired ? ['optional'] : []
  const [sentence = '', ...blocks] = field.description.split('\n\n')
  const values = unexplained(field)
  return (
    <>
      <code>{name}</code>{' '}
      {of === 'request' && isRequired && <span class="required">required </span>}
      <span class="soft">{[type, ...rules, ...presence].join('; ')}</span>{' '}
      <span class={of === 'request' ? 'under' : 'about'}>
        <Line text={sentence} />
        {sentence !== '' && values.length > 0 && '. '}
        {values.length > 0 && (values.length === 1 ? 'Only ' : 'One of ')}
        {values.length > MAX_VALUES ? `${values.length} values` : <Values values={values} />}
      </span>
      {blocks.length > 0 && <Prose text={blocks.join('\n\n')} />}
    </>
  )
}

/** The values that the description does not list with what they mean. */
export function unexplained({ values, description }: Field): readonly string[] {
  return values.filter((value) => !description.includes(`\n- \`${value}\`: `))
}

function Values({ values }: Pick<Field, 'values'>) {
  return (
    <>
      {values.map((value, at) => (
        <>
          {at > 0 && ', '}
          <code>{value}</code>
        </>
      ))}
    </>
  )
}
