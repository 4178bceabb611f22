interface CopyableProps {
  /** Of the element whose text the button copies. */
  readonly id: string
  readonly text: string
}

/** A text to be taken elsewhere. The button comes with the script of the page. */
export function Copyable({ id, text }: CopyableProps) {
  return (
    <div class="copyable">
      <pre id={id} tabindex={0}>
        {text}
      </pre>
      <button type="button" class="quiet" data-copy={id} hidden>
        Copy
      </button>
    </div>
  )
}
