import { describeForm, kindName } from '../../../lib/address-lists/describe-form.ts'
import {
  type Corrections,
  KINDS,
  type Kind,
  type ListForm,
} from '../../../lib/address-lists/form.ts'
import { Option, Select } from '../parts/field.tsx'

interface ListFieldsProps {
  readonly corrections: Corrections
  /** The form of the list that was looked up. */
  readonly form: ListForm | undefined
}

/** The format of a list as it was recognised, in fields by which the user can correct it. */
export function ListFields({ corrections, form }: ListFieldsProps) {
  const { kind = '', hasHeader, column, take = 'first' } = corrections
  const header = hasHeader === undefined ? '' : headerValue(hasHeader)
  const place = column === undefined ? '' : placeValue(column)
  const isCorrected = `${kind}${header}${place}` !== '' || take !== 'first'
  return (
    <fieldset class="choices" id="list-form">
      <legend>How the list is written</legend>
      <p class="hint" id="recognised" role="status">
        {form === undefined ? 'Recognised by its content.' : `${describeForm(form)}.`}
      </p>
      <details open={isCorrected}>
        <summary>Set it yourself</summary>
        <div class="list-form">
          <Select name="kind" label="Kind">
            <Option value="" text="Recognise" chosen={kind} />
            {KIND_VALUES.map((value) => (
              <Option value={value} text={kindName(value)} chosen={kind} />
            ))}
          </Select>
          <Select name="header" label="First line">
            <Option value="" text="Recognise" chosen={header} />
            <Option value="yes" text="Names of columns" chosen={header} />
            <Option value="no" text="A row" chosen={header} />
          </Select>
          <Select name="place" label="Addresses are">
            {placeOptions(form).map(([value, text]) => (
              <Option value={value} text={text} chosen={place} />
            ))}
          </Select>
          <Select name="take" label="If there are several, look up">
            <Option value="first" text="the first" chosen={take} />
            <Option value="last" text="the last" chosen={take} />
          </Select>
        </div>
      </details>
    </fieldset>
  )
}

// safe: the names of a literal object
const KIND_VALUES = Object.keys(KINDS) as Kind[]

/** The values and texts of the choice of a column. */
export function placeOptions(form: ListForm | undefined): (readonly [string, string])[] {
  const columns = form?.columns ?? []
  return [
    ['', 'Recognise'],
    [ANYWHERE, 'anywhere in the line'],
    ...columns.map(
      (name, at) => [placeValue(at), `in ${name.slice(0, SHOWN_CHARACTERS)}`] as const,
    ),
  ]
}

const ANYWHERE = 'line'
const SHOWN_CHARACTERS = 40

function placeValue(column: number | null): string {
  return column === null ? ANYWHERE : String(column)
}

function headerValue(hasHeader: boolean): string {
  return hasHeader ? 'yes' : 'no'
}

/** The corrections in the fields of a form; `text` returns '' for a missing field. */
export function readCorrections(text: (name: string) => string): Corrections {
  const header = text('header')
  return {
    kind: KIND_VALUES.find((kind) => kind === text('kind')),
    hasHeader: header === '' ? undefined : header === headerValue(true),
    column: readPlace(text('place')),
    take: text('take') === 'last' ? 'last' : 'first',
  }
}

function readPlace(text: string): number | null | undefined {
  if (text === ANYWHERE) return null
  return /^\d{1,4}$/.test(text) ? Number(text) : undefined
}
