/** Child of an element; `undefined` and `false` are skipped. */
export type Child = Node | string | undefined | false

/**
 * Creates an element. Attributes are set unchanged; `true` sets an empty one, `false` and `undefined` none.
 * Text is never interpreted as markup.
 */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | boolean | undefined>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    made.setAttribute(key, value === true ? '' : value)
  }
  made.append(...children.filter((child) => child !== undefined && child !== false))
  return made
}

/** Creates a button that runs `press`. */
export const button = (
  attributes: Readonly<Record<string, string | boolean | undefined>>,
  press: () => void,
  ...children: Child[]
): HTMLButtonElement => {
  const made = element('button', { type: 'button', ...attributes }, ...children)
  made.addEventListener('click', press)
  return made
}

/** Shows an element if `visible`. Otherwise hides it, also from assistive technology. */
export const show = (target: HTMLElement, visible: boolean): void => {
  target.hidden = !visible
}

/** Sets text only if it differs, so that a live region does not repeat it. */
export const setText = (target: HTMLElement, text: string): void => {
  if (target.textContent !== text) target.textContent = text
}
