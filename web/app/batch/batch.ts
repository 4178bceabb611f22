import { columnsNamed } from '../../pages/dashboard/batch-columns.ts'
import { part, rowsOf } from './batch-parts.ts'
import { createRun } from './batch-run.ts'
import { viewBatch } from './batch-view.ts'
import { type AddressColumn, readRows } from './read-rows.ts'

const MAX_ROWS = 100_000
const MAX_FILE_BYTES = 50_000_000

/** Looks up whole files, part by part. Without this script the form takes what is typed. */
function main(form: HTMLFormElement): void {
  const [text, file] = [part<HTMLTextAreaElement>('addresses'), part<HTMLInputElement>('file')]
  const submit = form.querySelector<HTMLButtonElement>('[type=submit]')
  const view = viewBatch()
  let run = createRun(serviceOf(form), view, [])
  let source: AddressColumn = { header: null, rows: [] }

  const go = async () => {
    if (submit !== null) submit.disabled = true
    await run.go(source)
    if (submit !== null) submit.disabled = false
  }
  const start = async () => {
    const typed = await readSource(file.files?.[0], text.value)
    if (typeof typed === 'string') return view.refuse(typed)
    source = typed
    const names = new FormData(form).getAll('column').map(String)
    run = createRun(serviceOf(form), view, columnsNamed(names))
    return go()
  }

  part('from-file').hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void start()
  })
  view.onStop(() => run.stop())
  view.onGoOn(() => void go())
  text.addEventListener('input', () => {
    file.value = ''
  })
  file.addEventListener('change', () => {
    text.value = ''
  })
  takeDrops(form, file, text)
}

function serviceOf({ action, dataset }: HTMLFormElement) {
  return { path: action, size: Number(dataset['size']) }
}

/** The rows, or what is wrong with them. */
async function readSource(file: File | undefined, typed: string): Promise<AddressColumn | string> {
  if (file !== undefined && file.size > MAX_FILE_BYTES) return 'The file is larger than 50 MB.'
  const column = readRows(file === undefined ? typed : await file.text())
  const { rows } = column
  if (rows.length === 0) return 'There is no address. Type one, or choose a file.'
  if (rows.length <= MAX_ROWS) return column
  return `There are ${rowsOf(rows.length)}, and at most ${rowsOf(MAX_ROWS)} go at once.`
}

/** A file that is dropped anywhere is chosen; the browser would leave the page to show it. */
function takeDrops(form: HTMLFormElement, file: HTMLInputElement, text: HTMLTextAreaElement): void {
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
