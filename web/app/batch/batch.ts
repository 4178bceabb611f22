import { columnsNamed } from '../../../pages/dashboard/look-up/batch-columns.ts'
import { createRun } from './batch-run.ts'
import { part, rowsOf, viewBatch } from './batch-view.ts'
import { type AddressColumn, readRows } from './read-rows.ts'

const MAX_ROWS = 100_000
const MAX_FILE_BYTES = 50_000_000

/** Looks up whole files in parts. Without this script the form submits only typed addresses. */
function main(form: HTMLFormElement): void {
  const [text, file] = [part<HTMLTextAreaElement>('addresses'), part<HTMLInputElement>('file')]
  const submit = form.querySelector<HTMLButtonElement>('[type=submit]')
  const view = viewBatch()
  let run = createRun(serviceOf(form), view, [])
  let source: AddressColumn = { header: null, rows: [] }

  const busy = async (work: () => Promise<void>) => {
    if (submit !== null) submit.disabled = true
    await work()
    if (submit !== null) submit.disabled = false
  }
  const start = async () => {
    const typed = await readSource(file.files?.[0], text.value)
    if (typeof typed === 'string') return view.refuse(typed)
    source = typed
    const names = new FormData(form).getAll('column').map(String)
    run = createRun(serviceOf(form), view, columnsNamed(names))
    await run.go(source)
  }

  part('from-file').hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void busy(start)
  })
  view.onStop(() => run.stop())
  view.onGoOn(() => void busy(() => run.go(source)))
  text.addEventListener('input', () => {
    file.value = ''
  })
  file.addEventListener('change', () => {
    text.value = ''
  })
  acceptDrops(form, file, text)
}

function serviceOf({ action, dataset }: HTMLFormElement) {
  return { path: action, size: Number(dataset['size']) }
}

/** The rows, or a message that says why they cannot be looked up. */
async function readSource(file: File | undefined, typed: string): Promise<AddressColumn | string> {
  if (file !== undefined && file.size > MAX_FILE_BYTES) return 'The file is larger than 50 MB.'
  // It fails if the file has changed or gone since it was chosen.
  const text = file === undefined ? typed : await file.text().catch(() => null)
  if (text === null) return 'The file cannot be read. Choose it again.'
  const column = readRows(text)
  const { rows } = column
  if (rows.length === 0) return 'Enter an address or choose a file.'
  if (rows.length <= MAX_ROWS) return column
  return `${rowsOf(rows.length)} are too many; the maximum is ${rowsOf(MAX_ROWS)}.`
}

/** Accepts a file dropped anywhere on the page. The browser would open it instead. */
function acceptDrops(
  form: HTMLFormElement,
  file: HTMLInputElement,
  text: HTMLTextAreaElement,
): void {
  const over = (event: DragEvent, isOver: boolean) => {
    if (event.dataTransfer?.types.includes('Files') !== true) return
    event.preventDefault()
    form.classList.toggle('dropping', isOver)
  }
  document.addEventListener('dragover', (event) => over(event, true))
  document.addEventListener('dragleave', (event) => over(event, false))
  document.addEventListener('drop', (event) => {
    over(event, false)
    const files = event.dataTransfer?.files
    if (files === undefined || files.length === 0) return
    file.files = files
    text.value = ''
  })
}

const form = document.querySelector<HTMLFormElement>('#batch')
if (form !== null) main(form)
