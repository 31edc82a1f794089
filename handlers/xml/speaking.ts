import { digitsPattern } from '../common/destinations.ts'
import type { Sound } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import { codes } from './faults.ts'
import type { XmlElement } from './tree.ts'

/** Longest text of one `Say`, in characters. */
const maxSpeech = 4096

/** A sound with its number of rounds; 0 means without end. */
export interface Repeated {
  readonly sound: Sound
  readonly loop: number
}

/** Reads `Say`. Tags of SSML in it are read as the text that they hold, with a warning. */
export const readSay = (reader: ElementReader): Repeated | undefined => {
  const voice = reader.text('voice')
  const language = reader.text('language')
  const loop = reader.integer('loop', 0, 1000, 1)
  reader.done()
  if (reader.elements().length > 0) {
    reader.warning(codes.schema, 'SSML tags have no effect; their text is read plainly.')
  }
  const text = allText(reader.element).replace(/\s+/g, ' ').trim()
  if (text.length > maxSpeech) {
    reader.error(codes.schema, `Say has more than ${maxSpeech} characters.`)
    return undefined
  }
  if (text === '') {
    reader.warning(codes.schema, 'Say has no text; it has no effect.')
    return undefined
  }
  return { sound: { kind: 'speech', text, ...(voice && { voice }), ...(language && { language }) }, loop }
}

const allText = (element: XmlElement): string =>
  element.children.map((child) => (typeof child === 'string' ? child : ` ${allText(child)} `)).join('')

/** What `Play` asks for: audio, digits to send, or (after an error) nothing. */
export interface Playing {
  readonly audio: Repeated | undefined
  readonly digits: string | undefined
}

/** Reads `Play`: a URL, or the attribute `digits`, or both. */
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
  const url = reader.url(content)
  return { audio: url === undefined ? undefined : { sound: { kind: 'audio', url }, loop }, digits }
}

/** Reads `Pause`: milliseconds. */
export const readPause = (reader: ElementReader): number => {
  const ms = reader.integer('length', 0, 86_400, 1) * 1000
  reader.done()
  reader.noElements()
  return ms
}
