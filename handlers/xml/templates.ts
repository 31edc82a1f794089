import type { Fields } from '../common/forms.ts'

const template = /\{\{\s*([A-Za-z][\w.-]*)\s*\}\}/g

/** Most characters that fields put into one document. */
const mostFilled = 65_536

/** True where a text has a `{{Name}}` in it. */
export const holdsTemplate = (text: string): boolean => text.search(template) >= 0

/**
 * Puts the fields of a request for a document in place of `{{Name}}`, in values and texts of what is read already: whatever a field holds, it
 * is no markup. A name that is no field's stands for nothing.
 */
export class Templates {
  #fields: Fields
  #left = mostFilled

  constructor(fields: Fields) {
    this.#fields = fields
  }

  /** Undefined: the document gets too large. */
  fill(text: string): string | undefined {
    const filled = text.replace(template, (_, name: string) => {
      const value = Object.hasOwn(this.#fields, name) ? (this.#fields[name] ?? '') : ''
      this.#left -= value.length
      return this.#left < 0 ? '' : value
    })
    return this.#left < 0 ? undefined : filled
  }
}
