import { isAddress, isSipUri, readNumber } from '../common/destinations.ts'
import { percentDecode, readHeader, withX } from '../common/headers.ts'
import { ringtoneOf } from '../common/sounds.ts'
import type { Destination, Header } from '../verbs.ts'
import type { ElementReader } from './element-reader.ts'
import { codes } from './faults.ts'
import type { DialVerb } from './program.ts'
import type { XmlElement } from './tree.ts'

/** Most nouns of one `Dial`. */
const maxNouns = 10

/** Reads `Dial`: its nouns ring together, and the first answer wins. */
export const readDial = (reader: ElementReader): DialVerb => {
  const timeoutMs = reader.integer('timeout', 5, 600, 30) * 1000
  const maxDurationMs = reader.integer('timeLimit', 1, 86_400, 14_400) * 1000
  const answerOnBridge = reader.boolean('answerOnBridge')
  const from = reader.text('callerId')
  const fromName = reader.text('callerName')
  const ringback = readRingTone(reader)
  const action = reader.action()
  reader.done()
  const nouns = readNouns(reader)
  const destinations = nouns.map((noun) => ({
    ...noun,
    ...(from && { from }),
    ...(fromName && { fromName }),
  }))
  return {
    path: reader.element.path,
    kind: 'dial',
    connect: {
      steps: [destinations],
      timeoutMs,
      maxDurationMs,
      answerOnBridge,
      ...(ringback && { ringback: [ringback] }),
    },
    action,
    sip: reader.elements().some((child) => child.name === 'Sip'),
  }
}

const readRingTone = (reader: ElementReader) => {
  const country = reader.text('ringTone')
  if (country === undefined) return undefined
  const tone = ringtoneOf(country)
  if (!tone)
    reader.warning(
      codes.schema,
      `No ringing tone is known for ${JSON.stringify(country)}; the usual one is played.`,
      'ringTone',
    )
  return tone
}

const readNouns = (reader: ElementReader): readonly Destination[] => {
  const found = reader.elements().flatMap((child) => readNoun(reader, child) ?? [])
  const text = reader.content()
  if (text !== '') found.push(...numberOf(reader, text))
  if (reader.elements().length === 0 && text === '') reader.error(codes.schema, 'Dial says nobody to call.')
  else if (found.length === 0 && reader.faults.errors.length === 0)
    reader.error(codes.schema, 'Dial has no noun that is supported.')
  if (found.length > maxNouns) reader.error(codes.schema, `Dial calls more than ${maxNouns} at once.`)
  return found
}

const readNoun = (dial: ElementReader, child: XmlElement): readonly Destination[] | undefined => {
  const reader = dial.nested(child)
  switch (child.name) {
    case 'Sip':
      return readSip(reader)
    case 'Client':
      return readClient(reader)
    case 'Number':
      reader.done()
      reader.noElements()
      return numberOf(reader, reader.content())
    default:
      reader.warning(codes.schema, `${child.name} is not supported in Dial; it has no effect.`)
      return undefined
  }
}

const numberOf = (reader: ElementReader, text: string): readonly Destination[] => {
  const to = readNumber(text)
  if (to === undefined) reader.error(codes.number, `${JSON.stringify(text)} is not a phone number.`)
  return to === undefined ? [] : [{ to }]
}

/** `Client`: `name` stands for the address `/public/name`; an address `/context/name` is taken as it is. */
const readClient = (reader: ElementReader): readonly Destination[] => {
  reader.done()
  reader.noElements()
  const text = reader.content()
  const to = text.startsWith('/') ? text : `/public/${text}`
  if (isAddress(to)) return [{ to }]
  reader.error(codes.schema, `Client needs a name or an address /context/name, not ${JSON.stringify(text)}.`)
  return []
}

/** `Sip`: a SIP URI; what stands behind its `?` becomes headers of the INVITE (RFC 3261 section 19.1.1), with `X-` in front. */
const readSip = (reader: ElementReader): readonly Destination[] => {
  const username = reader.text('username')
  const password = reader.text('password')
  reader.done()
  reader.noElements()
  const content = reader.content()
  const to = content.split('?', 1)[0] ?? ''
  if (!isSipUri(to)) {
    reader.error(codes.sipUri, 'Sip needs a SIP URI such as sip:user@example.com.')
    return []
  }
  const headers = headersOf(reader, content.slice(to.length + 1))
  return [
    {
      to,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(headers.length > 0 && { headers }),
    },
  ]
}

const headersOf = (reader: ElementReader, query: string): readonly Header[] =>
  query
    .split('&')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const [name = '', ...value] = part.split('=')
      try {
        return [readHeader(withX(percentDecode(name)), percentDecode(value.join('=')))]
      } catch (error) {
        reader.error(codes.sipUri, `The SIP URI ${(error as Error).message}.`)
        return []
      }
    })
