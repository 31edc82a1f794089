/** A text cut at its `${…}` and `%{…}`, which mean the same. */
export type Part = { readonly literal: string } | { readonly expression: string }

/** Functions of templates: `@{separate %{call.from_number}}`. */
export type TemplateFunction = 'strftime_tz' | 'expr' | 'echo' | 'separate'

/** A text cut at its functions, whose arguments may have placeholders, and no functions. */
export type Piece =
  | { readonly literal: string }
  | { readonly name: TemplateFunction; readonly argument: string }

/** Most characters of an expression. */
export const maxExpressionLength = 1024

const plainPath = /^[A-Za-z_][\w-]*(\.[\w-]+|\[\d+\]|\["[^"\]]*"\]|\['[^'\]]*'\])*$/
/** Names that mean a value of the language. */
const words = new Set(['true', 'false', 'null', 'undefined', 'NaN', 'Infinity', 'this'])

/** True for a path such as `call.headers[0].value`, which is looked up; anything else is JavaScript. */
export const isPath = (expression: string): boolean => plainPath.test(expression) && !words.has(expression)

/** What stands before a path and changes its text, in this order from the left. */
const functions: Readonly<Record<string, (text: string) => string>> = {
  'lc:': (text) => text.toLowerCase(),
  'enc:url:': (text) => encodeURIComponent(text.toWellFormed()),
}

/** The path of an expression such as `lc:enc:url:vars.city`, and what is made of its text; undefined where it is none. */
export const changedPath = (
  expression: string,
): { readonly path: string; readonly change: (text: string) => string } | undefined => {
  const [, names = '', path = ''] = /^((?:lc:|enc:url:)+)(.*)$/s.exec(expression) ?? []
  if (!isPath(path)) return undefined
  const steps = names.match(/lc:|enc:url:/g) ?? []
  return { path, change: (text) => steps.reduce((so, step) => functions[step]?.(so) ?? so, text) }
}

/** The names of a path, for instance `call`, `headers`, `0`, `value`. */
export const segmentsOf = (path: string): readonly string[] =>
  [...path.matchAll(/\["([^"\]]*)"\]|\['([^'\]]*)'\]|\[(\d+)\]|([\w-]+)/g)].map(
    ([, double, single, index, name]) => double ?? single ?? index ?? name ?? '',
  )

const opening = /[$%]\{/g

/** Where the quoted text ends that begins at `from`; the text's length where it does not. */
const endOfQuote = (text: string, from: number): number => {
  const quote = text[from]
  let at = from + 1
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1
  return Math.min(at, text.length)
}

/** Where the brace stands that closes what was opened before `from`; braces inside of quotes and in pairs do not count. */
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

/** Cuts a text at its placeholders. One that is never closed is a literal; {@link placeholderFault} tells of it. */
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

/** Where the brace stands that closes a function; those of placeholders inside, and braces in pairs, do not count. */
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

/** Cuts a text at its functions. One that is never closed, or stands inside of a placeholder, is a literal. */
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
    // Nothing after it is looked at, or a long hostile text would be read to its end again and again.
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

/** True when the text has a placeholder or a function, so that its value is known only when the script runs. */
export const hasPlaceholder = (text: string): boolean =>
  piecesOf(text).some(
    (piece) => 'name' in piece || partsOf(piece.literal).some((part) => 'expression' in part),
  )

/** A function of the language that is not there, in a text; undefined where there is none. */
export const absentFunction = (text: string): string | undefined =>
  /@\{(fmt_ph|sleep)(?=[\s}])/.exec(text)?.[1]

/** What is wrong with the placeholders of a text, before any is evaluated; undefined when nothing is. */
export const placeholderFault = (text: string): string | undefined => {
  for (const part of partsOf(text)) {
    if ('literal' in part) {
      if (part.literal.search(opening) >= 0) return 'holds an expression that is not closed'
      continue
    }
    const fault = expressionFault(part.expression)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** What is wrong with an expression before it is evaluated; undefined when nothing is. */
export const expressionFault = (expression: string): string | undefined => {
  if (expression === '') return 'holds an empty expression'
  return expression.length > maxExpressionLength
    ? `holds an expression of more than ${maxExpressionLength} characters`
    : undefined
}
