import { digitsPattern } from '../common/destinations.ts'
import type { Sound } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import { codes } from './faults.ts'
import type { XmlElement } from './tree.ts'

/** Longest text of one `Say`, in characters, without and with its tags. */
const maxSpeech = 4096
const maxMarkup = 16_384

/** Tags of SSML that have a meaning in `Say`, besides those of `amazon:`. */
const ssmlTags = 'break emphasis lang p phoneme prosody s say-as sub w'.split(' ')

/** A sound with its number of rounds; 0 means without end. */
export interface Repeated {
  readonly sound: Sound
  readonly loop: number
}

/** Reads `Say`. With tags of SSML in it, its text is SSML; other tags are left out with a warning, their text is not. */
export const readSay = (reader: ElementReader): Repeated | undefined => {
  const voice = reader.text('voice')
  const language = reader.text('language')
  const loop = reader.integer('loop', 0, 1000, 1)
  reader.done()
  const plain = oneLine(allText(reader.element))
  const text =
    reader.elements().length > 0 ? `<speak>${oneLine(ssmlOf(reader, reader.element))}</speak>` : plain
  if (plain.length > maxSpeech || text.length > maxMarkup) {
    reader.error(
      codes.schema,
      `Say has more than ${maxSpeech} characters, or more than ${maxMarkup} with its tags.`,
    )
    return undefined
  }
  if (plain === '') {
    reader.warning(codes.schema, 'Say has no text; it has no effect.')
    return undefined
  }
  return { sound: { kind: 'speech', text, ...(voice && { voice }), ...(language && { language }) }, loop }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

const allText = (element: XmlElement): string =>
  element.children.map((child) => (typeof child === 'string' ? child : allText(child))).join('')

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => escapes[sign]!)

/** What the element holds, written as SSML. */
const ssmlOf = (reader: ElementReader, element: XmlElement): string =>
  element.children
    .map((child) => (typeof child === 'string' ? escaped(child) : tagOf(reader, child)))
    .join('')

const tagOf = (reader: ElementReader, element: XmlElement): string => {
  const { name, attributes } = element
  const inside = ssmlOf(reader, element)
  if (!ssmlTags.includes(name) && !name.startsWith('amazon:')) {
    reader.faults.warning(codes.schema, `${name} is no SSML for Say; its text is read.`, element)
    return inside
  }
  const written = [...attributes].map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')
  return inside === '' ? `<${name}${written}/>` : `<${name}${written}>${inside}</${name}>`
}

/** What `Play` asks for: audio, digits to send, or (after an error) nothing. */
export interface Playing {
  readonly audio: Repeated | undefined
  readonly digits: string | undefined
}

/** Reads `Play`: a URL, also `file:` for the folder of sounds, or the attribute `digits`, or both. */
export const readPlay = (reader: ElementReader): Playing => {
  const loop = reader.integer('loop', 0, 1000, 1)
  const digits = reader.text('digits')
  reader.done()
  reader.noElements()
  if (digits !== undefined && !new RegExp(digitsPattern).test(digits)) {
    reader.error(codes.digits, 'The attribute digits may hold 0-9 * # A-D w W.', 'digits')
  }
  const content = reader.content()
  if (content === '') {
    if (digits === undefined) reader.error(codes.badUrl, 'Play needs a URL or the attribute digits.')
    return { audio: undefined, digits }
  }
  const url = /^file:/i.test(content) ? content : reader.url(content)
  return { audio: url === undefined ? undefined : { sound: { kind: 'audio', url }, loop }, digits }
}

/** Reads `Pause`: milliseconds. */
export const readPause = (reader: ElementReader): number => {
  const ms = reader.integer('length', 0, 86_400, 1) * 1000
  reader.done()
  reader.noElements()
  return ms
}
