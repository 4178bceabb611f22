import { describeForm } from '../../../lib/address-lists/describe-form.ts'
import { type ListForm, recognise } from '../../../lib/address-lists/form.ts'
import { BYTE_ORDER_MARK } from '../../../lib/contract/geo/csv-cell.ts'
import { placeOptions, readCorrections } from '../../../pages/dashboard/look-up/list-fields.tsx'
import { part } from './batch-view.ts'
import { readHead } from './source.ts'

export interface Recognised {
  readonly form: ListForm
  /** Whether the list begins with a byte order mark. */
  readonly hasMark: boolean
}

/** Recognises how a list is written, with the corrections of the user, and shows it. */
export function listFormFields(fields: HTMLFormElement) {
  const [shown, places] = [part('recognised'), part<HTMLSelectElement>('place')]
  let latest = 0
  const recogniseSource = async (source: Blob): Promise<Recognised> => {
    const head = await readHead(source)
    const entries = new FormData(fields)
    const form = recognise(
      head,
      readCorrections((name) => String(entries.get(name) ?? '')),
    )
    return { form, hasMark: head.startsWith(BYTE_ORDER_MARK) }
  }
  return {
    recognise: recogniseSource,
    /** Shows the form of a list that the user is choosing. Only the latest one counts. */
    show: async (source: Blob) => {
      latest += 1
      const mine = latest
      const recognised = await recogniseSource(source).catch(() => null)
      if (recognised === null || mine !== latest) return
      const { form } = recognised
      shown.textContent =
        source.size === 0 ? 'Recognised by its content.' : `${describeForm(form)}.`
      offer(places, form)
    },
    /** For a new list, whose columns may be in other places. */
    forgetPlace: () => {
      places.value = ''
    },
  }
}

function offer(places: HTMLSelectElement, form: ListForm): void {
  const chosen = places.value
  const options = placeOptions(form).map(([value, text]) => new Option(text, value))
  places.replaceChildren(...options)
  places.value = options.some(({ value }) => value === chosen) ? chosen : ''
}
