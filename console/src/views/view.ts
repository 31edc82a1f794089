/** Part of the page that follows its data. */
export interface View {
  readonly element: HTMLElement
  update(): void
}

/** Follows a list: one element for each key, created once, in the list's order. */
export const keyed = <T>(
  parent: HTMLElement,
  make: (item: T) => { readonly element: HTMLElement; update?(item: T): void },
  keyOf: (item: T) => string,
): ((items: readonly T[]) => void) => {
  const made = new Map<string, ReturnType<typeof make>>()
  return (items) => {
    const keys = new Set(items.map(keyOf))
    for (const [key, { element }] of made) {
      if (keys.has(key)) continue
      element.remove()
      made.delete(key)
    }
    let before: Element | null = parent.firstElementChild
    for (const item of items) {
      const key = keyOf(item)
      const part = made.get(key) ?? make(item)
      made.set(key, part)
      part.update?.(item)
      // Elements in their place are not moved: moving removes the focus.
      if (part.element === before) before = before.nextElementSibling
      else parent.insertBefore(part.element, before)
    }
  }
}
