import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import { ai, readAi } from '../nouns/ai.ts'
import { readRoom, room } from '../nouns/room.ts'
import { readStream, startStream, stream } from '../nouns/stream.ts'
import type { ElementKind, VerbContext, VerbKind } from '../verb.ts'
import { continueWith } from '../verb.ts'

/**
 * Connects the caller, and resolves at the end of the connection. `ended`: the document does not continue.
 */
type Join = (context: VerbContext) => Promise<'ended' | undefined>

/**
 * Verb `Connect`: connects the caller to its `Stream`, `Room` or `AI` in both directions, until that
 * connection ends.
 */
export const connect: VerbKind = {
  name: 'Connect',
  attributes: ['action', 'method'],
  children: [stream, room, ai],
  read: (reader) => {
    const action = reader.action()
    const [first, ...more] = reader.nestedOf([stream, room, ai])
    for (const { reader: child } of more)
      child.warning(codes.schema, 'Connect supports one noun; this one has no effect.')
    const join = first && readers.get(first.kind)?.(first.reader)
    if (!join) return undefined
    return async (context) => (await join(context)) ?? continueWith(action, {})
  },
}

const toStream = (reader: ElementReader): Join | undefined => {
  const noun = readStream(reader)
  if (!noun) return undefined
  return async (context) => {
    const options = { ...noun.options, bidirectional: true }
    const begun = await context.warnIfFailed(startStream(context, noun, options))
    await begun?.ended
    return undefined
  }
}

const toRoom = (reader: ElementReader): Join | undefined => {
  const name = readRoom(reader)
  if (name === undefined) return undefined
  return async ({ call, warnIfFailed }) => {
    await warnIfFailed(call.joinRoom({ name }))
    return undefined
  }
}

const toAgent = (reader: ElementReader): Join | undefined => {
  const document = readAi(reader)
  if (!document) return undefined
  return async (context) => {
    await context.answer()
    const { kind } = await context.runAgent(document, reader.element.path)
    return kind === 'left' ? 'ended' : undefined
  }
}

const readers: ReadonlyMap<ElementKind, (reader: ElementReader) => Join | undefined> = new Map([
  [stream, toStream],
  [room, toRoom],
  [ai, toAgent],
])
