import type { Fields } from '../common/forms.ts'

const template = /\{\{\s*([A-Za-z][\w.-]*)\s*\}\}/g

/** Maximum number of characters that fields insert into one document. */
const maxFilledLength = 65_536

/** Whether a text contains a `{{Name}}`. */
export const hasTemplate = (text: string): boolean => text.search(template) >= 0

/**
 * Replaces `{{Name}}` in parsed attribute values and texts by the fields of a document request. A field can
 * never become markup. Unknown names are replaced by nothing.
 */
export class Templates {
  #fields: Fields
  #left = maxFilledLength

  constructor(fields: Fields) {
    this.#fields = fields
  }

  /** Returns the filled text; undefined if the document becomes too large. */
  fill(text: string): string | undefined {
    const filled = text.replace(template, (_, name: string) => {
      const value = Object.hasOwn(this.#fields, name) ? (this.#fields[name] ?? '') : ''
      this.#left -= value.length
      return this.#left < 0 ? '' : value
    })
    return this.#left < 0 ? undefined : filled
  }
}
