interface LookUpFormProps {
  readonly base: string
  /** Of the page that answers. */
  readonly action: string
  readonly typed: string | null
  readonly isInvalid: boolean
  /** By which the script of the page asks the API; null: the form is always sent to the page. */
  readonly demoKey: string | null
}

/** Without a script it asks for the page again, which has the answer. */
export function LookUpForm({ base, action, typed, isInvalid, demoKey }: LookUpFormProps) {
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
          aria-describedby={isInvalid ? 'trouble' : undefined}
        />
        <button type="submit">Look up</button>
      </div>
    </form>
  )
}
