import { BATCH_MAX } from '../../lib/contract/batch.ts'
import { BATCH_COLUMNS, type BatchColumn, valueAt } from './batch-columns.ts'
import { Notice } from './notice.tsx'
import { count } from './words.ts'

interface BatchProps {
  readonly base: string
  /** What was typed. */
  readonly typed?: string
  /** Empty: all. */
  readonly columns?: readonly BatchColumn[]
  /** Of what was typed, one for each line. */
  readonly answer?: BatchAnswer
  readonly trouble?: string
}

export interface BatchAnswer {
  readonly results: readonly unknown[]
  readonly degraded: boolean
}

export function Batch({ base, typed = '', columns = BATCH_COLUMNS, answer, trouble }: BatchProps) {
  return (
    <>
      {trouble !== undefined && <Notice kind="trouble">{trouble}.</Notice>}
      {answer !== undefined && <Answers base={base} columns={columns} answer={answer} />}
      <form
        id="batch"
        class="card stack batch"
        method="post"
        action={`${base}/app/batch`}
        data-size={BATCH_MAX}
      >
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
            {typed}
          </textarea>
          <p class="hint" id="addresses-hint">
            One per line. Each counts as one request of your plan, found or not.
          </p>
          <noscript>
            <p class="hint">Up to {count(BATCH_MAX)} at a time without JavaScript.</p>
          </noscript>
        </div>
        <div class="field" id="from-file" hidden>
          <label for="file">Or a CSV or text file</label>
          <input
            id="file"
            type="file"
            accept=".csv,.tsv,.txt,text/*"
            aria-describedby="file-hint"
          />
          <p class="hint" id="file-hint">
            Choose it, or drop it on this page. It is read in your browser: nothing but the
            addresses in it is sent.
          </p>
        </div>
        <ColumnChoice chosen={columns} />
        <button type="submit">Look up</button>
      </form>
      <Run />
    </>
  )
}

function ColumnChoice({ chosen }: { readonly chosen: readonly BatchColumn[] }) {
  return (
    <fieldset class="choices columns">
      <legend>Columns of the result</legend>
      {BATCH_COLUMNS.map((column) => (
        <label>
          <input
            type="checkbox"
            name="column"
            value={column.name}
            checked={chosen.includes(column)}
          />
          <span>{column.label}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** Filled by the script. */
function Run() {
  return (
    <section class="card" id="run" aria-labelledby="run-title" hidden>
      <h2 id="run-title">Progress</h2>
      <progress id="progress" aria-labelledby="run-title" />
      <p id="counted" class="soft" />
      <p id="said" role="status" />
      <ul id="errors" class="hint" aria-label="Rows without an address" hidden />
      <div class="actions">
        <button type="button" class="quiet" id="stop" hidden>
          Stop
        </button>
        <button type="button" id="go-on" hidden>
          Go on
        </button>
        <span class="actions" id="downloads" />
      </div>
    </section>
  )
}

type AnswersProps = Required<Pick<BatchProps, 'base' | 'columns' | 'answer'>>

function Answers({ base, columns, answer: { results, degraded } }: AnswersProps) {
  return (
    <section class="card" aria-labelledby="answers">
      <h2 id="answers">Answers</h2>
      {degraded && (
        <p class="hint">
          All requests of this period are used, so some answers are reduced to the country.{' '}
          <a href={`${base}/app/billing`}>Change the plan or allow overages</a>.
        </p>
      )}
      <figure class="wide answers" aria-labelledby="answers" tabindex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Address</th>
              {columns.map(({ label }) => (
                <th scope="col">{label}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {results.map((result) => (
              <AnswerRow columns={columns} result={result} />
            ))}
          </tbody>
        </table>
      </figure>
    </section>
  )
}

interface AnswerRowProps {
  readonly columns: readonly BatchColumn[]
  readonly result: unknown
}

function AnswerRow({ columns, result }: AnswerRowProps) {
  const trouble = valueAt(result, 'error.message')
  return (
    <tr>
      <th scope="row">
        <code>{valueAt(result, 'query.value')}</code>
      </th>
      {trouble === undefined ? (
        columns.map(({ field }) => <td>{valueAt(result, field)}</td>)
      ) : (
        <td class="soft" colspan={columns.length}>
          {trouble}
        </td>
      )}
    </tr>
  )
}
