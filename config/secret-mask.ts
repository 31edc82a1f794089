import type { Document } from 'yaml'
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Schema } from './schema/builders.ts'
import { configSchema } from './schema/config-schema.ts'

/** Part of a text, from one offset to another. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Text in place of a secret, where columns do not matter. */
export const maskedSecret = '(secret)'

/** Character in place of each one that is masked. */
export const maskCharacter = '•'

/**
 * Returns the ranges of the values that no report may show: secrets by the schema, and values of unknown
 * keys, which may be misspelt secrets. The texts of documents are not among them; {@link maskedLine} masks
 * the passwords in these.
 */
export const secretRanges = (document: Document): readonly Range[] => {
  const ranges: Range[] = []
  // In a file that is no YAML, keys seem to belong to other groups than they do.
  collect(document.contents, { schema: configSchema, hidesUnknown: document.errors.length === 0 }, ranges)
  return ranges
}

interface Place {
  /** Schema of the value; undefined below an unknown key. */
  readonly schema: Schema | undefined
  readonly hidesUnknown: boolean
}

const collect = (node: unknown, { schema, hidesUnknown }: Place, ranges: Range[]): void => {
  if (isAlias(node)) return
  if (isScalar(node)) {
    const [start, end] = node.range ?? [0, 0]
    if ((schema === undefined ? hidesUnknown : isSecret(schema)) && !isVariable(node.source))
      ranges.push({ start, end })
  } else if (isSeq(node))
    for (const item of node.items) collect(item, { schema: schema?.items, hidesUnknown }, ranges)
  else if (isMap(node))
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : ''
      const { properties = {}, additionalProperties: any } = schema ?? {}
      const inner = Object.hasOwn(properties, name) ? properties[name] : undefined
      // The keys of a document in YAML belong to the document's language.
      if (name === 'document' && inner) continue
      const below = inner ?? (typeof any === 'object' ? any : undefined)
      collect(value, { schema: below, hidesUnknown }, ranges)
    }
}

/** Whether a value is only a reference to a variable, which shows the operator which one it is. */
const isVariable = (source: string | undefined): boolean => /^\$\{\w+\}$/.test(source ?? '')

const isSecret = ({ writeOnly, type }: Schema): boolean => writeOnly === true && !type?.includes('object')

/** Returns whether a key has a name such as `password`, so that no report shows its value. */
export const isSecretName = (key: string): boolean => secretKey.test(key)

/** Returns a text; of a URL, neither its user nor its query, which may have passwords and tokens. */
export const withoutUrlSecrets = (text: string): string =>
  text
    .replace(/\/\/[^/?#\s]{1,256}@/, `//${maskedSecret}@`)
    .replace(/^([a-z][a-z0-9+.-]{0,31}:\/\/[^?#\s]*)\?[^#\s]*/i, `$1?${maskedSecret}`)

/** Path of a certificate or key. The path is no secret, and the operator must see it. */
const fileName = /^["']?[\w./-]{1,200}\.(?:pem|key|crt|cer|p8|json)["']?(?:[\s,}]|$)/

/** Begin of the URL of a stream, with the quote that may begin the value. The path of the URL has the key. */
const streamScheme = /["']?rtmps?:\/\//gi
/** Maximum length of the server in the URL of a stream. */
const maxServerLength = 300

/** Rests of quoted values, to the closing quote or the end of the line. */
const quotedRests: Readonly<Record<string, RegExp>> = {
  '"': /^(?:[^"\\]|\\(?:.|$))*/,
  "'": /^(?:[^']|'')*/,
}

/** Keys whose values are masked wherever they occur, also in a file that is no valid YAML. */
const secretKey = /(?:pass|pwd|secret|token|key|auth|credential|envs?\b|store|postgres)/i

/**
 * Returns a line with its secrets masked, at the same columns. `ranges` are offsets in the whole text;
 * `offset` is that of the line. Masked independently of the ranges: values of keys with names such as
 * `password`, users in URLs, and paths of RTMP URLs, which have keys.
 */
export const maskedLine = (line: string, offset: number, ranges: readonly Range[]): string => {
  let masked = line
  for (const { start, end } of ranges)
    masked = hidden(masked, Math.max(0, start - offset), Math.min(line.length, end - offset))
  for (const { index } of line.matchAll(/[:=]/g)) {
    if (!secretKey.test(keyAtEnd(line.slice(0, index))) || line.startsWith('://', index)) continue
    const from = index + 1 + line.slice(index + 1).search(/\S|$/)
    const rest = line.slice(from)
    if (fileName.test(rest)) continue
    // A reference to a variable is no secret, and shows the operator which one it is.
    if (/^["']?\$\{/.test(rest) || /^[[{&*|>]?\s*$/.test(rest)) continue
    masked = hidden(masked, from, from + valueLength(rest))
  }
  for (const { 0: user, index } of line.matchAll(/\/\/[^/@\s]{1,256}@/g))
    masked = hidden(masked, index + 2, index + user.length - 1)
  let end = 0
  for (const { 0: scheme, index } of line.matchAll(streamScheme)) {
    const server = index + scheme.length
    const length = line.slice(server, server + maxServerLength + 1).search(/[/"']/)
    if (index < end || length < 1 || line[server + length] !== '/') continue
    const from = server + length + 1
    // A value without quotes is masked to the end of the line: a file that does not parse has any text there.
    const quoted = quotedRests[scheme[0] ?? '']?.exec(line.slice(from))?.[0]
    end = quoted === undefined ? line.length : from + quoted.length
    masked = hidden(masked, from, end)
  }
  return masked
}

/** Returns the key that ends a text, without its quotes and the spaces after it; empty without a key. */
const keyAtEnd = (text: string): string => {
  const trimmed = text.trimEnd()
  const end = /["']/.test(trimmed.at(-1) ?? '') ? trimmed.length - 1 : trimmed.length
  let start = end
  while (start > 0 && /[\w.-]/.test(trimmed[start - 1] ?? '')) start--
  return trimmed.slice(start, end)
}

/** Returns the length of a value that begins a text: to the end of its quotes, its group, or the line. */
const valueLength = (rest: string): number => {
  const quote = rest[0] === '"' || rest[0] === "'" ? rest.indexOf(rest[0], 1) : -1
  if (quote !== -1) return quote + 1
  const end = rest.search(/[,}\]]/)
  return (end === -1 ? rest : rest.slice(0, end)).trimEnd().length
}

/**
 * Returns whether a line without a key of its own continues the value of a secret, such as an entry of a list
 * of keys. `above` are the lines before it.
 */
export const continuesSecret = (line: string, above: readonly string[]): boolean => {
  if (/^\s*(?:-\s+)*[\w.-]+\s*:(?:\s|$)/.test(line)) return false
  const indent = line.search(/\S|$/)
  const parent = above.findLast((each) => /\S/.test(each) && each.search(/\S/) < Math.max(indent, 1))
  return parent?.includes(':') === true && isSecretName(keyAtEnd(parent.split(':', 1)[0] ?? ''))
}

const hidden = (line: string, start: number, end: number): string =>
  end <= start ? line : line.slice(0, start) + maskCharacter.repeat(end - start) + line.slice(end)
