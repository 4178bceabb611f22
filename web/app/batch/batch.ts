import { columnsNamed } from '../../../pages/dashboard/look-up/batch-columns.ts'
import { createRun } from './batch-run.ts'
import { part, viewBatch } from './batch-view.ts'
import { listFormFields } from './list-form-fields.ts'
import { viewResults } from './results-view.tsx'

const MAX_BYTES = 1_000_000_000

/** Looks up lists of any length in parts. Without this script the form submits short ones as typed. */
function main(form: HTMLFormElement): void {
  const [text, file] = [part<HTMLTextAreaElement>('addresses'), part<HTMLInputElement>('file')]
  const submit = form.querySelector<HTMLButtonElement>('[type=submit]')
  const fields = listFormFields(form)
  const { size, world = '' } = form.dataset
  const service = { path: form.action, size: Number(size) }
  const views = { view: viewBatch(), results: viewResults(part('results'), world) }
  let run: ReturnType<typeof createRun> | undefined

  const source = () => file.files?.[0] ?? new Blob([text.value])
  const busy = async (work: () => Promise<void> | undefined) => {
    if (submit !== null) submit.disabled = true
    await work()
    if (submit !== null) submit.disabled = false
  }
  const start = async () => {
    const list = source()
    if (list.size === 0) return views.view.refuse('Enter an address or choose a file.')
    if (list.size > MAX_BYTES) return views.view.refuse('The file is larger than 1 GB.')
    const recognised = await fields.recognise(list).catch((error: Error) => error.message)
    if (typeof recognised === 'string') return views.view.refuse(recognised)
    const columns = columnsNamed(new FormData(form).getAll('column').map(String))
    run = createRun(service, { source: list, ...recognised, columns }, views)
    await run.go()
  }
  const show = debounce(() => void fields.show(source()))
  const changed = () => {
    fields.forgetPlace()
    show()
  }

  part('from-file').hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void busy(start)
  })
  views.view.onStop(() => run?.stop())
  views.view.onGoOn(() => void busy(() => run?.go()))
  text.addEventListener('input', () => {
    file.value = ''
    changed()
  })
  file.addEventListener('change', () => {
    text.value = ''
    changed()
  })
  part('list-form').addEventListener('change', show)
  acceptDrops(form, (files) => {
    file.files = files
    text.value = ''
    changed()
  })
}

const PAUSE_MS = 150

/** Runs the work once no call has come for a moment, so not at every key that the user presses. */
function debounce(work: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  return () => {
    clearTimeout(timer)
    timer = setTimeout(work, PAUSE_MS)
  }
}

/** Accepts a file dropped anywhere on the page. The browser would open it instead. */
function acceptDrops(form: HTMLFormElement, accept: (files: FileList) => void): void {
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
    if (files !== undefined && files.length > 0) accept(files)
  })
}

const form = document.querySelector<HTMLFormElement>('#batch')
if (form !== null) main(form)
