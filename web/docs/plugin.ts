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

/** Chooses the parts of Swagger UI to show. The page already has a title and landmarks. */
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
      // Swagger UI puts a link inside the button that opens an operation. Only one works by keyboard.
      DeepLink:
        () =>
        ({ text }: { readonly text: unknown }) =>
          element('span', null, text),
    },
  }
}
