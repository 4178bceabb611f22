import type { OperationText, ParameterText } from './describe.ts'

interface TryItProps {
  /** Base path of the service. */
  readonly base: string
  readonly text: OperationText
}

/** A form that sends the request from the page. It needs the script, which shows it. */
export function TryIt({ base, text: { row, parameters, body } }: TryItProps) {
  return (
    <details class="try" id="try" hidden>
      <summary>Try it</summary>
      <form
        data-method={row.method.toUpperCase()}
        data-path={row.path}
        data-base={base}
        data-operation={row.id}
      >
        {parameters
          .filter(({ place }) => place !== 'header')
          .map((parameter) => (
            <ParameterField {...parameter} />
          ))}
        {body !== null && (
          <div class="field">
            <label for="try-body">Body</label>
            <textarea id="try-body" name="body" rows={8} spellcheck={false}>
              {body.example}
            </textarea>
          </div>
        )}
        {row.access !== 'public' && <Credential />}
        {row.method !== 'get' && (
          <p class="hint">This sends a real request, which may change your account.</p>
        )}
        <button type="submit">Send</button>
      </form>
      <div id="answer" aria-live="polite" />
    </details>
  )
}

function ParameterField({ name, place, isRequired, example, values }: ParameterText) {
  const id = `try-${place}-${name}`
  return (
    <div class="field">
      <label for={id}>
        <code>{name}</code>
      </label>
      {values.length > 0 && place === 'query' ? (
        <select id={id} name={name} data-place={place} required={isRequired}>
          {[...(isRequired ? [] : ['']), ...values].map((value) => (
            <option>{value}</option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={name}
          data-place={place}
          value={example}
          required={isRequired}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    </div>
  )
}

function Credential() {
  return (
    <div class="field">
      <label for="try-as">Send with</label>
      <select id="try-as" name="credential">
        <option value="key">The API key above</option>
        <option value="session">My session of the dashboard</option>
      </select>
    </div>
  )
}
