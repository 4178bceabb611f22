/** A text in an element with this id, and a button that copies it. A script shows the button. */
export function Copyable({ id, text }: { id: string; text: string }) {
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
