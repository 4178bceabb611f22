import { BATCH_MAX } from '../../../lib/contract/geo/batch.ts'
import { Table } from '../../table.tsx'
import { Card } from '../parts/card.tsx'
import { Choice } from '../parts/field.tsx'
import { count } from '../parts/format.ts'
import { type PageProps, Result } from '../parts/notice.tsx'
import { BATCH_COLUMNS, type BatchColumn, cellAt } from './batch-columns.ts'

interface BatchProps extends PageProps {
  /** The text typed into the form. */
  readonly typed?: string
  /** The chosen columns. */
  readonly columns?: readonly BatchColumn[]
  /** The results, one per address in `typed`. */
  readonly answer?: BatchAnswer
}

export interface BatchAnswer {
  readonly results: readonly unknown[]
  readonly degraded: boolean
}

export function Batch({ base, typed = '', columns = BATCH_COLUMNS, answer, error }: BatchProps) {
  return (
    <>
      <Result error={error} />
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
            One per line. Each valid address counts as one request, even if nothing is known about
            it.
          </p>
          <noscript>
            <p class="hint">Without JavaScript: up to {count(BATCH_MAX)} at a time.</p>
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
            Choose a file, or drop it on this page. Your browser reads the file and sends only the
            addresses in it.
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
      <p id="message" role="status" />
      <ul id="errors" class="hint" aria-label="Rows without an address" hidden />
      <div class="actions">
        <button type="button" class="quiet" id="stop" hidden>
          Stop
        </button>
        <button type="button" id="go-on" hidden>
          Continue
        </button>
        <span class="actions" id="downloads" />
      </div>
    </section>
  )
}

type AnswersProps = Required<Pick<BatchProps, 'base' | 'columns' | 'answer'>>

function Answers({ base, columns, answer: { results, degraded } }: AnswersProps) {
  return (
    <Card id="answers" title="Results">
      {degraded && (
        <p class="hint">
          You have used all requests of this period, so some results contain only the country.{' '}
          <a href={`${base}/app/billing`}>See plans and billing</a>.
        </p>
      )}
      <figure class="wide answers" aria-labelledby="answers" tabindex={0}>
        <Table heads={['Address', ...columns.map(({ label }) => label)]}>
          {results.map((result) => (
            <AnswerRow columns={columns} result={result} />
          ))}
        </Table>
      </figure>
    </Card>
  )
}

function AnswerRow({ columns, result }: Pick<AnswersProps, 'columns'> & { result: unknown }) {
  const error = cellAt(result, 'error.message')
  return (
    <tr>
      <th scope="row">
        <code>{cellAt(result, 'query.value')}</code>
      </th>
      {error === undefined ? (
        columns.map(({ field }) => <td>{cellAt(result, field)}</td>)
      ) : (
        <td class="soft" colspan={columns.length}>
          {error}
        </td>
      )}
    </tr>
  )
}
