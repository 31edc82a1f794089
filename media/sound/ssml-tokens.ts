/** Piece of marked-up text. */
export type Token =
  /** Text with decoded entities. */
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'open' | 'close' | 'empty'
      /** Name in lower case. */
      readonly name: string
      readonly attributes: ReadonlyMap<string, string>
    }
  /** Invalid markup; `what` describes it for people. */
  | { readonly kind: 'fault'; readonly what: string }

const attribute = String.raw`\s+([A-Za-z_][\w:.-]*)\s*=\s*("[^"<]*"|'[^'<]*')`
const tag = new RegExp(String.raw`<(/?)([A-Za-z][\w:.-]*)((?:${attribute})*)\s*(/?)(>?)`, 'y')
/** Remainder of a malformed tag. */
const rest = /[^<>]*>/y

/**
 * Whether the text contains anything like a tag. If not, it is plain text, in which `&` and `<` are literal.
 */
export const hasMarkup = (text: string): boolean => /<(?:\/?[A-Za-z][^<>]*>|!--|\?|!\[CDATA\[)/.test(text)

/**
 * Splits marked-up text into tokens in linear time. `known` returns whether a name is that of an element.
 */
export function* tokensOf(text: string, known: (name: string) => boolean): Generator<Token> {
  let from = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const found = special(text, at) ?? tagAt(text, at, known)
    if (!found) {
      at++
      continue
    }
    if (at > from) yield { kind: 'text', text: decoded(text.slice(from, at)) }
    if (found.token) yield found.token
    from = found.end
    at = found.end
  }
  if (from < text.length) yield { kind: 'text', text: decoded(text.slice(from)) }
}

interface Found {
  readonly end: number
  readonly token?: Token
}

const specials = [
  ['<!--', '-->', 'a comment'],
  ['<?', '?>', 'a processing instruction'],
  ['<!DOCTYPE', '>', 'a document type'],
  ['<![CDATA[', ']]>', 'a CDATA section'],
] as const

/**
 * Parses comments, processing instructions, document types and CDATA sections; the latter are literal text.
 */
const special = (text: string, at: number): Found | undefined => {
  const kind = specials.find(([start]) => text.startsWith(start, at))
  if (!kind) return undefined
  const [start, close, what] = kind
  const end = text.indexOf(close, at + start.length)
  if (end < 0) return { end: text.length, token: { kind: 'fault', what: `${what} is not closed` } }
  const inside = text.slice(at + start.length, end)
  return {
    end: end + close.length,
    ...(start === '<![CDATA[' && { token: { kind: 'text', text: inside } }),
  }
}

const tagAt = (text: string, at: number, known: (name: string) => boolean): Found | undefined => {
  tag.lastIndex = at
  const match = tag.exec(text)
  if (!match) return undefined
  const [whole, slash, written = '', listed = '', , , selfClosing, closed] = match
  const name = written.toLowerCase()
  const end = at + whole.length
  if (closed) {
    const kind = slash ? 'close' : selfClosing ? 'empty' : 'open'
    return { end, token: { kind, name, attributes: attributesOf(listed) } }
  }
  rest.lastIndex = end
  const more = rest.exec(text)
  if (more)
    return { end: rest.lastIndex, token: { kind: 'fault', what: `the tag <${slash}${name}> is malformed` } }
  // Without an end it is a tag only if the name is known: "a <b and so on" is text.
  return known(name)
    ? { end, token: { kind: 'fault', what: `the tag <${slash}${name}> is not closed` } }
    : undefined
}

const attributesOf = (listed: string): ReadonlyMap<string, string> => {
  const all = listed.matchAll(new RegExp(attribute, 'gy'))
  return new Map(
    [...all].map(([, name = '', quoted = '']) => [name.toLowerCase(), decoded(quoted.slice(1, -1))]),
  )
}

const named: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
])

/** Decodes XML's entities and numeric references; leaves others unchanged. */
const decoded = (text: string): string =>
  text.replace(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name) return named.get(name) ?? whole
    const code = hex ? Number.parseInt(hex, 16) : Number(decimal)
    const isCharacter = code >= 32 && code <= 0x10_ffff && !(code >= 0xd800 && code <= 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : ' '
  })
