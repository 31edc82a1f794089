import { escapeHtml } from '../../core/web/escape-html.ts'

/** Attributes by name; undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>

/** Returns an element of HTML or SVG. `content` is markup; attributes are escaped. */
export const element = (name: string, attributes: Attributes, content = ''): string => {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeHtml(String(value))}"`)
  return `<${name}${written.join('')}>${content}</${name}>`
}
