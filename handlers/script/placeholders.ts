/** A text cut at its `${path}` and `%{path}`; both spellings mean the same. */
export type Part = { readonly literal: string } | { readonly path: string }

const placeholder = /[$%]\{([^{}]*)\}/g
const plainPath = /^[A-Za-z_][\w-]*(\.[\w-]+|\[\d+\]|\["[^"\]]*"\]|\['[^'\]]*'\])*$/

const onlyPaths = 'only plain paths such as call.from or vars.name can be looked up'

/** Cuts a text at its placeholders. */
export const partsOf = (text: string): readonly Part[] => {
  const parts: Part[] = []
  let end = 0
  for (const match of text.matchAll(placeholder)) {
    if (match.index > end) parts.push({ literal: text.slice(end, match.index) })
    parts.push({ path: (match[1] ?? '').trim() })
    end = match.index + match[0].length
  }
  if (end < text.length) parts.push({ literal: text.slice(end) })
  return parts
}

/** True when the text has a placeholder, so that its value is known only when the script runs. */
export const hasPlaceholder = (text: string): boolean => text.search(placeholder) >= 0

/**
 * What is wrong with the placeholders of a text; undefined when nothing is. Only plain paths are looked up: an expression with operators
 * or calls is not evaluated, and must not be taken for a text silently.
 */
export const placeholderFault = (text: string): string | undefined => {
  const wrong = partsOf(text).find((part) => 'path' in part && !plainPath.test(part.path))
  if (wrong && 'path' in wrong) {
    return `holds the expression ${JSON.stringify(wrong.path)}; ${onlyPaths}`
  }
  // What is left of a placeholder after all whole ones are gone was never closed, or nests braces.
  return partsOf(text).some((part) => 'literal' in part && /[$%]\{/.test(part.literal))
    ? `holds an expression that is not closed or has braces inside; ${onlyPaths}`
    : undefined
}

/** The names of a path, for instance `call`, `headers`, `0`, `value`. */
export const segmentsOf = (path: string): readonly string[] =>
  [...path.matchAll(/\["([^"\]]*)"\]|\['([^'\]]*)'\]|\[(\d+)\]|([\w-]+)/g)].map(
    ([, double, single, index, name]) => double ?? single ?? index ?? name ?? '',
  )
