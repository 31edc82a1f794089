import type { DocumentFault } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import { readDial } from './dial.ts'
import { ElementReader } from './element-reader.ts'
import { codes, Faults } from './faults.ts'
import { readGather } from './gather.ts'
import type { Verb } from './program.ts'
import { readRecord } from './record.ts'
import type { Repeated } from './speaking.ts'
import { readPause, readPlay, readSay } from './speaking.ts'
import { readConnect, readStart, readStop } from './streaming.ts'
import { readTree } from './tree.ts'

/** A document that may run. */
export interface XmlProgram {
  readonly verbs: readonly Verb[]
  /** What has no effect or another one than was written. */
  readonly warnings: readonly DocumentFault[]
}

const contentTypes = /^(text\/xml|application\/xml|text\/html|[^/;]+\/[^/;]+\+xml)\s*(;|$)/i

/**
 * Reads and checks an XML document. `url` is where it came from: relative URLs start there, and an inline document has none. Throws
 * {@link DocumentInvalid} with every error that was found, each with its element path, line and column.
 */
export const readXmlDocument = (document: {
  readonly text: string
  readonly url?: string
  readonly contentType?: string
}): XmlProgram => {
  checkContentType(document.contentType)
  const text = document.text.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const root = new ElementReader(readTree(text), new Faults(text), document.url)
  root.done()
  if (root.content() !== '') root.warning(codes.schema, 'Text beside the verbs has no effect.')
  const verbs = root.elements().flatMap((child) => readVerb(root.nested(child)))
  const { errors, warnings } = root.faults
  if (errors.length > 0) throw new DocumentInvalid(errors)
  return { verbs, warnings }
}

const checkContentType = (contentType: string | undefined): void => {
  if (!contentType || contentTypes.test(contentType)) return
  const message = `The document came as ${JSON.stringify(contentType)}; text/xml or application/xml is needed.`
  throw new DocumentInvalid([{ code: codes.contentType, message, path: '' }])
}

const readVerb = (reader: ElementReader): readonly Verb[] => {
  const { path } = reader.element
  switch (reader.element.name) {
    case 'Say':
      return playing(path, readSay(reader))
    case 'Play': {
      const { audio, digits } = readPlay(reader)
      return [
        ...playing(path, audio),
        ...(digits === undefined ? [] : [{ path, kind: 'digits' as const, digits }]),
      ]
    }
    case 'Gather':
      return [readGather(reader)]
    case 'Dial':
      return [readDial(reader)]
    case 'Record':
      return [readRecord(reader)]
    case 'Start':
      return readStart(reader)
    case 'Stop':
      return readStop(reader)
    case 'Connect':
      return readConnect(reader)
    case 'Pause':
      return [{ path, kind: 'pause', ms: readPause(reader) }]
    case 'Hangup':
      reader.done()
      reader.noElements()
      return [{ path, kind: 'hangup' }]
    case 'Reject':
      return [readReject(reader)]
    case 'Redirect':
      return readRedirect(reader)
    default:
      reader.warning(codes.schema, `The verb ${reader.element.name} is not supported; it has no effect.`)
      return []
  }
}

const playing = (path: string, repeated: Repeated | undefined): readonly Verb[] =>
  repeated ? [{ path, kind: 'play', play: { sounds: [repeated.sound], loop: repeated.loop } }] : []

const readReject = (reader: ElementReader): Verb => {
  const reason = reader.choice('reason', ['rejected', 'busy'], 'rejected')
  reader.done()
  reader.noElements()
  return { path: reader.element.path, kind: 'reject', reason: reason === 'busy' ? 'busy' : 'decline' }
}

const readRedirect = (reader: ElementReader): readonly Verb[] => {
  const method = reader.method()
  reader.done()
  reader.noElements()
  // No text means the document itself, as everywhere in URLs; an inline document has none.
  const url = reader.url(reader.content())
  return url === undefined ? [] : [{ path: reader.element.path, kind: 'redirect', next: { url, method } }]
}
