import { html } from 'hono/html'

type Html = ReturnType<typeof html>

/** A whole page with a note that no money moves, and above the body what went wrong. */
export function page(title: string, body: Html, error = ''): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
        <style>
          body {
            font: 16px/1.5 system-ui, sans-serif;
            max-width: 34rem;
            margin: 3rem auto;
            padding: 0 1rem;
          }
          label,
          input {
            display: block;
            width: 100%;
            box-sizing: border-box;
          }
          label {
            margin: 0.75rem 0;
          }
          button {
            font: inherit;
            padding: 0.5rem 1rem;
            margin: 0.5rem 0.5rem 0.5rem 0;
          }
          .error {
            color: #b00020;
          }
        </style>
      </head>
      <body>
        <p><small>Stripe double: test only, no money moves</small></p>
        <h1>${title}</h1>
        ${error === '' ? '' : html`<p class="error" role="alert">${error}</p>`} ${body}
      </body>
    </html>`
}

export function money(cents: number, currency: string): string {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  return format.format(cents / 100)
}

export function day(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10)
}
