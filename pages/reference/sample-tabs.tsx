import type { Sample } from './samples/samples.ts'

interface SampleTabsProps {
  readonly samples: readonly Sample[]
  readonly needsKey: boolean
}

/** The request in each language. Tabs are radio buttons, which work without a script. */
export function SampleTabs({ samples, needsKey }: SampleTabsProps) {
  return (
    <section class="samples">
      <h2>Request</h2>
      {needsKey && <KeyField />}
      <fieldset class="tabs">
        <legend class="unseen">Language</legend>
        {samples.map(({ language, title }, at) => (
          <label>
            <input type="radio" name="language" value={language} checked={at === 0} />
            {title}
          </label>
        ))}
      </fieldset>
      {samples.map(({ language, text }) => (
        <div class="sample" data-language={language}>
          <pre id={`sample-${language}`} tabindex={0}>
            {text}
          </pre>
          <button type="button" class="quiet" data-copy={`sample-${language}`} hidden>
            Copy
          </button>
        </div>
      ))}
    </section>
  )
}

/** The script shows it, keeps the key for this tab, and fills it into the samples. */
function KeyField() {
  return (
    <div class="field key" hidden>
      <label for="key">Your API key</label>
      <input
        id="key"
        type="password"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        aria-describedby="key-hint"
      />
      <p class="hint" id="key-hint" aria-live="polite">
        Fills the samples and Try it. It stays in this tab.
      </p>
    </div>
  )
}
