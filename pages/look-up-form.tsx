interface LookUpFormProps {
  readonly base: string
  /** Path of the page that shows the result. */
  readonly action: string
  readonly typed: string | null
  readonly isInvalid: boolean
  /** Addresses to look up with a click. */
  readonly samples?: readonly string[]
  /** The key with which the script calls the API; null: the browser always submits the form. */
  readonly demoKey: string | null
}

/** Without a script the browser submits the form and gets the page with the result. */
export function LookUpForm(props: LookUpFormProps) {
  const { base, action, typed, isInvalid, samples = [], demoKey } = props
  return (
    <form
      id="look-up"
      class="look-up"
      method="get"
      action={action}
      data-base={base}
      data-key={demoKey ?? undefined}
    >
      <label for="ip">IPv4 or IPv6 address</label>
      <div class="row">
        <input
          id="ip"
          name="ip"
          value={typed ?? ''}
          maxlength={100}
          placeholder="81.2.69.160"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-invalid={isInvalid ? 'true' : undefined}
          aria-describedby={isInvalid ? 'look-up-error' : undefined}
        />
        <button type="submit">Look up</button>
      </div>
      {samples.length > 0 && (
        <p class="try-samples">
          Try{' '}
          {samples.map((address) => (
            <a href={`${action}?ip=${address}`} data-sample={address}>
              {address}
            </a>
          ))}
        </p>
      )}
    </form>
  )
}
