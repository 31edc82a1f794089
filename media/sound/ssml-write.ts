import type { Token } from './ssml-tokens.ts'

/** Elements whose tags are left out: engines would fetch the audio, from wherever a document says; there is one root, whatever it had. */
const bare = ['audio', 'speak']

/**
 * Writes tokens, of which none is a fault, as well-formed SSML with one `speak` around them, which has the attributes of theirs. Left out
 * are the elements named in `silent` with all that is in them, and the tags of `audio`.
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

/** XML has no way to write most of the control characters. */
const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[^\t\n\r\x20-\ufffd\u{10000}-\u{10ffff}]/gu, ' ')
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
