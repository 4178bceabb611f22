import { counted } from '../dashboard/parts/format.ts'
import type { ErrorText, OperationText, ReplyText } from './describe.ts'
import { FieldList, ShapeLists } from './field-list.tsx'
import { Line, Prose } from './prose.tsx'
import { SampleTabs } from './sample-tabs.tsx'
import { TryIt } from './try-it.tsx'

interface OperationViewProps {
  /** Base path of the service. */
  readonly base: string
  readonly text: OperationText
}

/** What one operation does, what it takes and answers, and programs that send it. */
export function OperationView({ base, text }: OperationViewProps) {
  const { row, parameters, body, replies, errors } = text
  return (
    <main id="content" class="operation">
      <div class="head">
        <p class="eyebrow">{row.tag}</p>
        <h1>{row.summary}</h1>
        <p class="call">
          <Method method={row.method} /> <code>{row.path}</code>
        </p>
      </div>
      <div class="what">
        {row.description !== undefined && <Prose text={row.description} />}
        <Terms {...text} />
        {parameters.length > 0 && (
          <section>
            <h2>Parameters</h2>
            <FieldList fields={parameters} of="request" />
          </section>
        )}
        {body !== null && (
          <section>
            <h2>Body</h2>
            <ShapeLists shapes={body.shapes} of="request" />
          </section>
        )}
        <section>
          <h2>Answers</h2>
          {replies.map((reply, at) => (
            <Reply reply={reply} isOpen={at === 0} />
          ))}
        </section>
        <Errors base={base} errors={errors} />
      </div>
      <div class="use">
        <SampleTabs samples={text.samples} needsKey={row.access !== 'public'} />
        <TryIt base={base} text={text} />
        <Example replies={replies} />
      </div>
    </main>
  )
}

export function Method({ method }: { readonly method: string }) {
  return <span class={`method ${method}`}>{method.toUpperCase()}</span>
}

function Terms({ row, access, limits }: OperationText) {
  return (
    <dl class="terms">
      <dt>Access</dt>
      <dd>
        <Line text={access} />
      </dd>
      <dt>Limit</dt>
      {limits.map((limit) => (
        <dd>{limit}</dd>
      ))}
      <dt>Id</dt>
      <dd>
        <code>{row.id}</code>
      </dd>
    </dl>
  )
}

interface ReplyProps {
  readonly reply: ReplyText
  readonly isOpen: boolean
}

/** The fields of the first answer are shown; others, such as those of a 404, often are the same. */
function Reply({ reply: { status, description, type, shapes }, isOpen }: ReplyProps) {
  const line = (
    <>
      <strong>{status}</strong> <Line text={description} />
      {type !== '' && <span class="soft"> ({type})</span>}
    </>
  )
  if (shapes.length === 0) return <p class="reply">{line}</p>
  return (
    <details class="reply" open={isOpen}>
      <summary>{line}</summary>
      <ShapeLists shapes={shapes} of="answer" />
    </details>
  )
}

interface ErrorsProps {
  readonly base: string
  readonly errors: readonly ErrorText[]
}

function Errors({ base, errors }: ErrorsProps) {
  return (
    <section>
      <h2>Errors</h2>
      <details>
        <summary>{counted(errors.length, 'code', 'codes')}</summary>
        <table class="errors">
          <thead>
            <tr>
              <th scope="col">Status</th>
              <th scope="col">Code</th>
              <th scope="col">Meaning</th>
            </tr>
          </thead>
          <tbody>
            {errors.map(({ status, code, meaning }) => (
              <tr>
                <td>{status}</td>
                <th scope="row">
                  <code>{code}</code>
                </th>
                <td>{meaning}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p class="hint">
          All errors have <a href={`${base}/docs/guides/errors`}>one form</a>.
        </p>
      </details>
    </section>
  )
}

function Example({ replies }: { readonly replies: readonly ReplyText[] }) {
  const [reply] = replies.filter(({ example }) => example !== '')
  if (reply === undefined) return null
  return (
    <section>
      <h2>Example answer, {reply.status}</h2>
      <pre tabindex={0}>
        <code>{reply.example}</code>
      </pre>
    </section>
  )
}
