import type { Corrections, ListForm } from '../../../lib/address-lists/form.ts'
import type { Spot } from '../../../lib/address-lists/map-spots.ts'
import { BATCH_MAX } from '../../../lib/contract/geo/batch.ts'
import { PostForm } from '../../post-form.tsx'
import { Card } from '../parts/card.tsx'
import { Choice } from '../parts/field.tsx'
import { count } from '../parts/format.ts'
import { type PageProps, Result } from '../parts/notice.tsx'
import { BATCH_COLUMNS, type BatchColumn } from './batch-columns.ts'
import { ListFields } from './list-fields.tsx'
import { ListMap } from './list-map.tsx'
import { type ListCounts, ListSummary } from './list-summary.tsx'
import { ListTable } from './list-table.tsx'

interface BatchProps extends PageProps {
  /** Address of the world map image. */
  readonly world: string
  /** The text typed into the form. */
  readonly typed?: string
  readonly corrections?: Corrections
  /** The chosen columns. */
  readonly columns?: readonly BatchColumn[]
  /** The results of what was typed. */
  readonly answer?: BatchAnswer
}

export interface BatchAnswer {
  readonly form: ListForm
  readonly rows: readonly (readonly string[])[]
  readonly summary: ListCounts
  readonly spots: readonly Spot[]
  readonly elsewhere: number
  readonly degraded: boolean
}

export function Batch(props: BatchProps) {
  const { base, world, typed = '', corrections = {}, columns = BATCH_COLUMNS } = props
  return (
    <>
      <Result error={props.error} />
      <PostForm
        action={`${base}/app/batch`}
        id="batch"
        class="card stack batch"
        data-size={BATCH_MAX}
        data-world={world}
      >
        <Typed text={typed} />
        <FromFile />
        <ListFields corrections={corrections} form={props.answer?.form} />
        <ColumnChoice chosen={columns} />
        <button type="submit">Look up</button>
      </PostForm>
      <Run />
      <div id="results" class="items">
        {props.answer !== undefined && (
          <Answers base={base} world={world} columns={columns} answer={props.answer} />
        )}
      </div>
    </>
  )
}

function Typed({ text }: { readonly text: string }) {
  return (
    <div class="field">
      <label for="addresses">Addresses</label>
      <textarea
        id="addresses"
        name="addresses"
        rows={6}
        placeholder={'81.2.69.160\n2001:db8::1'}
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-describedby="addresses-hint"
      >
        {text}
      </textarea>
      <p class="hint" id="addresses-hint">
        One per line, or CSV, TSV, JSON lines or lines of a log. Each different address counts as
        one request, even if nothing is known about it.
      </p>
      <noscript>
        <p class="hint">Without JavaScript: up to {count(BATCH_MAX)} at a time.</p>
      </noscript>
    </div>
  )
}

function FromFile() {
  return (
    <div class="field" id="from-file" hidden>
      <label for="file">Or a file</label>
      <input id="file" type="file" aria-describedby="file-hint" />
      <p class="hint" id="file-hint">
        Choose a file, or drop it on this page. Your browser reads the file and sends only the
        addresses in it.
      </p>
    </div>
  )
}

function ColumnChoice({ chosen }: { readonly chosen: readonly BatchColumn[] }) {
  return (
    <fieldset class="choices columns">
      <legend>Columns of the result, after your own</legend>
      {BATCH_COLUMNS.map((column) => (
        <Choice type="checkbox" name="column" value={column.name} checked={chosen.includes(column)}>
          {column.label}
        </Choice>
      ))}
    </fieldset>
  )
}

/** The progress of a look-up. The script fills it in. */
function Run() {
  return (
    <section class="card" id="run" aria-labelledby="run-title" hidden>
      <h2 id="run-title">Progress</h2>
      <progress id="progress" aria-labelledby="run-title" />
      <p id="counted" class="soft" />
      <p id="message" role="status" tabindex={-1} />
      <ul id="errors" class="hint" aria-label="Rows without an address" hidden />
      <button type="button" class="quiet" id="stop" hidden>
        Stop
      </button>
      <button type="button" id="go-on" hidden>
        Continue
      </button>
    </section>
  )
}

type AnswersProps = Required<Pick<BatchProps, 'base' | 'world' | 'columns' | 'answer'>>

function Answers({ base, world, columns, answer }: AnswersProps) {
  return (
    <>
      <Card id="summary" title="Summary">
        {answer.degraded && (
          <p class="hint">
            You have used all requests of this period, so results that are marked as degraded
            contain only the country. <a href={`${base}/app/billing`}>See plans and billing</a>.
          </p>
        )}
        <ListSummary summary={answer.summary} />
      </Card>
      <Card id="map" title="Map">
        <ListMap world={world} spots={answer.spots} elsewhere={answer.elsewhere} />
      </Card>
      <Card id="rows" title="Rows">
        <ListTable labelledBy="rows" form={answer.form} columns={columns} rows={answer.rows} />
      </Card>
    </>
  )
}
