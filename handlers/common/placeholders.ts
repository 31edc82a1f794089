/** Part of a text that was split at its placeholders `${…}` and `%{…}`, which are equivalent. */
export type Part = { readonly literal: string } | { readonly expression: string }

/** Template function, for instance `@{separate %{call.from_number}}`. */
export type TemplateFunction = 'strftime_tz' | 'expr' | 'echo' | 'separate'

/**
 * Part of a text that was split at its template functions. Arguments may contain placeholders, but no
 * functions.
 */
export type Piece =
  | { readonly literal: string }
  | { readonly name: TemplateFunction; readonly argument: string }

/** Maximum length of an expression, in characters. */
export const maxExpressionLength = 1024

const plainPath = /^[A-Za-z_][\w-]*(\.[\w-]+|\[\d+\]|\["[^"\]]*"\]|\['[^'\]]*'\])*$/
/** Names of values of JavaScript. */
const words = new Set(['true', 'false', 'null', 'undefined', 'NaN', 'Infinity', 'this'])

/**
 * Whether an expression is a path such as `call.headers[0].value`, which is looked up. Other expressions are
 * JavaScript.
 */
export const isPath = (expression: string): boolean => plainPath.test(expression) && !words.has(expression)

/** Prefixes of a path that transform its text, applied from the left. */
const functions: Readonly<Record<string, (text: string) => string>> = {
  'lc:': (text) => text.toLowerCase(),
  'enc:url:': (text) => encodeURIComponent(text.toWellFormed()),
}

/**
 * Maximum number of prefixes. Each encodes what the one before made, so a text grows and takes time with the
 * square of their number.
 */
const maxPrefixes = 4

/**
 * Reads a path with prefixes, such as `lc:enc:url:vars.city`, four at most. Undefined for any other
 * expression.
 */
export const changedPath = (
  expression: string,
): { readonly path: string; readonly change: (text: string) => string } | undefined => {
  const [, names = '', path = ''] = /^((?:lc:|enc:url:)+)(.*)$/s.exec(expression) ?? []
  const steps = names.match(/lc:|enc:url:/g) ?? []
  if (!isPath(path) || steps.length > maxPrefixes) return undefined
  return { path, change: (text) => steps.reduce((result, step) => functions[step]?.(result) ?? result, text) }
}

/** Splits a path into its names, for instance `call`, `headers`, `0`, `value`. */
export const segmentsOf = (path: string): readonly string[] =>
  [...path.matchAll(/\["([^"\]]*)"\]|\['([^'\]]*)'\]|\[(\d+)\]|([\w-]+)/g)].map(
    ([, double, single, index, name]) => double ?? single ?? index ?? name ?? '',
  )

const opening = /[$%]\{/g

/** Returns the end of the quoted text that starts at `from`; the length of the text if it is unterminated. */
const endOfQuote = (text: string, from: number): number => {
  const quote = text[from]
  let at = from + 1
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

/** Returns the offset of the brace that closes an expression; skips quoted and paired braces. */
const endOfExpression = (text: string, from: number): number | undefined => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === '"' || character === "'" || character === '`') at = endOfQuote(text, at)
    else if (character === '{') depth++
    else if (character === '}' && depth-- === 0) return at
  }
  return undefined
}

/**
 * Splits a text at its placeholders. An unterminated one is a literal, which {@link placeholderFault}
 * reports.
 */
export const partsOf = (text: string): readonly Part[] => {
  const parts: Part[] = []
  let begin = 0
  for (;;) {
    opening.lastIndex = begin
    const open = opening.exec(text)?.index
    const end = open === undefined ? undefined : endOfExpression(text, open + 2)
    if (open === undefined || end === undefined) break
    if (open > begin) parts.push({ literal: text.slice(begin, open) })
    parts.push({ expression: text.slice(open + 2, end).trim() })
    begin = end + 1
  }
  if (begin < text.length) parts.push({ literal: text.slice(begin) })
  return parts
}

const functionOpening = /@\{(strftime_tz|expr|echo|separate)(?=[\s}])/y

/** Returns the offset of the brace that closes a function. Skips paired braces and braces of placeholders. */
const endOfFunction = (text: string, from: number): number | undefined => {
  let depth = 0
  for (let at = from; at < text.length; at++) {
    if ((text[at] === '$' || text[at] === '%') && text[at + 1] === '{') {
      const end = endOfExpression(text, at + 2)
      if (end === undefined) return undefined
      at = end
    } else if (text[at] === '{') depth++
    else if (text[at] === '}' && depth-- === 0) return at
  }
  return undefined
}

/** Splits a text at its functions. An unterminated one, or one inside a placeholder, is a literal. */
export const piecesOf = (text: string): readonly Piece[] => {
  if (!text.includes('@{')) return [{ literal: text }]
  const pieces: Piece[] = []
  let begin = 0
  let at = 0
  while (at < text.length) {
    if ((text[at] === '$' || text[at] === '%') && text[at + 1] === '{') {
      at = (endOfExpression(text, at + 2) ?? text.length) + 1
      continue
    }
    functionOpening.lastIndex = at
    const found = text[at] === '@' ? functionOpening.exec(text) : undefined
    if (!found) {
      at++
      continue
    }
    const end = endOfFunction(text, at + found[0].length)
    // Stops here: otherwise a hostile text would be scanned to its end for each opening.
    if (end === undefined) break
    if (at > begin) pieces.push({ literal: text.slice(begin, at) })
    const argument = text.slice(at + found[0].length, end).trim()
    pieces.push({ name: found[1] as TemplateFunction, argument })
    begin = end + 1
    at = begin
  }
  if (begin < text.length) pieces.push({ literal: text.slice(begin) })
  return pieces
}

/** Whether the text has a placeholder or function, so that its value is unknown until the script runs. */
export const hasPlaceholder = (text: string): boolean =>
  piecesOf(text).some(
    (piece) => 'name' in piece || partsOf(piece.literal).some((part) => 'expression' in part),
  )

/** Returns the unsupported function of the language in a text; undefined without one. */
export const absentFunction = (text: string): string | undefined =>
  /@\{(fmt_ph|sleep)(?=[\s}])/.exec(text)?.[1]

/** Checks the placeholders of a text without evaluating them. Returns the fault, or undefined. */
export const placeholderFault = (text: string): string | undefined => {
  for (const part of partsOf(text)) {
    if ('literal' in part) {
      if (part.literal.search(opening) >= 0) return 'contains an unterminated expression'
      continue
    }
    const fault = expressionFault(part.expression)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Checks an expression without evaluating it. Returns the fault, or undefined. */
export const expressionFault = (expression: string): string | undefined => {
  if (expression === '') return 'contains an empty expression'
  return expression.length > maxExpressionLength
    ? `contains an expression of more than ${maxExpressionLength} characters`
    : undefined
}
