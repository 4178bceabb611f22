type Component = (props: Readonly<Record<string, unknown>>) => unknown

interface System {
  readonly React: {
    createElement(
      type: string | Component,
      props: Readonly<Record<string, unknown>> | null,
      ...children: unknown[]
    ): unknown
  }
  getComponent(name: string, container: true): Component
}

export const LAYOUT = 'Reference'

/** What the page shows of Swagger UI, and as what: it has the title and its landmarks already. */
export function plugin({ React, getComponent }: System) {
  const element = React.createElement
  const part = (name: string) => element(getComponent(name, true), null)
  return {
    components: {
      [LAYOUT]: () =>
        element(
          'div',
          { className: 'swagger-ui' },
          element(
            'div',
            { className: 'head' },
            element('h2', null, 'Operations'),
            part('AuthorizeBtnContainer'),
          ),
          part('errors'),
          part('operations'),
        ),
    },
    wrapComponents: {
      // A link inside of the button that opens an operation: only one of them can be reached.
      DeepLink:
        () =>
        ({ text }: { readonly text: unknown }) =>
          element('span', null, text),
    },
  }
}
