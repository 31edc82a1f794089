import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { XmlElement } from '../tree.ts'
import type { VerbKind } from '../verb.ts'
import { playRepeated, type RepeatedSound } from './repeated-sound.ts'

/** Maximum length of the text of one `Say`, without tags, in characters. */
const maxSpeech = 4096

/** Maximum length of the text of one `Say`, including tags, in characters. */
const maxMarkup = 16_384

/** SSML tags that `Say` supports, besides the `amazon:` tags. */
const ssmlTags = 'break emphasis lang p phoneme prosody s say-as sub w'.split(' ')

/** Verb `Say`: speaks its text. */
export const say: VerbKind = {
  name: 'Say',
  attributes: ['voice', 'language', 'loop'],
  children: 'markup',
  canRunInSideDocument: true,
  read: (reader) => playRepeated(readSay(reader)),
}

/**
 * Reads `Say`. A text with SSML tags becomes SSML. Other tags are removed with a warning, and their text is
 * spoken.
 */
export const readSay = (reader: ElementReader): RepeatedSound | undefined => {
  const voice = reader.text('voice')
  const language = reader.text('language')
  const loop = reader.integer('loop', 0, 1000, 1)
  const plain = oneLine(allText(reader.element))
  const text =
    reader.elements().length > 0 ? `<speak>${oneLine(ssmlOf(reader, reader.element))}</speak>` : plain
  if (plain.length > maxSpeech || text.length > maxMarkup) {
    reader.warning(
      codes.speech,
      `Say has more than ${maxSpeech} characters, or more than ${maxMarkup} including tags; it has no ` +
        'effect.',
    )
    return undefined
  }
  if (plain === '') {
    reader.warning(codes.speech, 'Say has no text; it has no effect.')
    return undefined
  }
  return { sound: { kind: 'speech', text, ...(voice && { voice }), ...(language && { language }) }, loop }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

const allText = (element: XmlElement): string =>
  element.children.map((child) => (typeof child === 'string' ? child : allText(child))).join('')

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => escapes[sign]!)

/** Content of the element as SSML. */
const ssmlOf = (reader: ElementReader, element: XmlElement): string =>
  element.children
    .map((child) => (typeof child === 'string' ? escaped(child) : tagOf(reader, child)))
    .join('')

const tagOf = (reader: ElementReader, element: XmlElement): string => {
  const { name, attributes } = element
  const inside = ssmlOf(reader, element)
  if (!ssmlTags.includes(name) && !name.startsWith('amazon:')) {
    reader.faults.warning(codes.schema, `${name} is not supported in Say; its text is spoken.`, element)
    return inside
  }
  const written = [...attributes].map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')
  return inside === '' ? `<${name}${written}/>` : `<${name}${written}>${inside}</${name}>`
}
