import type { Token } from './ssml-tokens.ts'

/**
 * Elements whose tags are omitted: engines would fetch `audio` from an untrusted location, and `speak` is
 * written once.
 */
const bare = ['audio', 'speak']

/**
 * Writes tokens without faults as well-formed SSML with a single `speak` root, which keeps its attributes.
 * Omits the elements in `silent` with their content, and the tags of `audio`.
 */
export const writeSsml = (tokens: readonly Token[], silent: readonly string[]): string => {
  let out = ''
  let silence = 0
  for (const token of tokens) {
    if (token.kind === 'fault') continue
    if (token.kind === 'text') {
      if (silence === 0) out += escaped(token.text)
      continue
    }
    const { kind, name, attributes } = token
    if (silent.includes(name)) silence += { open: 1, close: -1, empty: 0 }[kind]
    else if (silence === 0 && !bare.includes(name)) out += tagOf(kind, name, attributes)
  }
  return `${tagOf('open', 'speak', rootOf(tokens))}${out.trim()}</speak>`
}

const rootOf = (tokens: readonly Token[]): ReadonlyMap<string, string> => {
  const root = tokens.find((token) => token.kind === 'open' && token.name === 'speak')
  return root?.kind === 'open' ? root.attributes : new Map()
}

const tagOf = (
  kind: 'open' | 'close' | 'empty',
  name: string,
  attributes: ReadonlyMap<string, string>,
): string => {
  if (kind === 'close') return `</${name}>`
  const all = [...attributes].map(([key, value]) => ` ${key}="${escaped(value)}"`)
  return `<${name}${all.join('')}${kind === 'empty' ? '/' : ''}>`
}

/** XML cannot represent most control characters. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\ufffd\u{10000}-\u{10ffff}]/gu, ' ')
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
