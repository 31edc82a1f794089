import type { Fields } from '../../common/forms.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import { ai, readAi } from '../nouns/ai.ts'
import {
  conversationRelay,
  readConversationRelay,
  runConversationRelay,
} from '../nouns/conversation-relay.ts'
import { readRoom, room } from '../nouns/room.ts'
import { readStream, startStream, stream } from '../nouns/stream.ts'
import type { ElementKind, VerbContext, VerbKind } from '../verb.ts'
import { continueWith } from '../verb.ts'

/**
 * Connects the caller, and resolves at the end of the connection, with further fields of the action.
 * `ended`: the document does not continue.
 */
type Join = (context: VerbContext) => Promise<'ended' | Fields>

/**
 * Verb `Connect`: connects the caller to its `Stream`, `Room`, `AI` or `ConversationRelay` in both
 * directions, until that connection ends.
 */
export const connect: VerbKind = {
  name: 'Connect',
  attributes: ['action', 'method'],
  children: [stream, room, ai, conversationRelay],
  read: (reader) => {
    const action = reader.action()
    const [first, ...more] = reader.nestedOf([stream, room, ai, conversationRelay])
    for (const { reader: child } of more)
      child.warning(codes.schema, 'Connect supports one noun; this one has no effect.')
    const join = first && readers.get(first.kind)?.(first.reader)
    if (!join) return undefined
    return async (context) => {
      const fields = await join(context)
      return fields === 'ended' ? fields : continueWith(action, fields)
    }
  },
}

const toStream = (reader: ElementReader): Join | undefined => {
  const noun = readStream(reader)
  if (!noun) return undefined
  return async (context) => {
    const options = { ...noun.options, bidirectional: true }
    const begun = await context.warnIfFailed(startStream(context, noun, options))
    await begun?.ended
    return {}
  }
}

const toRoom = (reader: ElementReader): Join | undefined => {
  const name = readRoom(reader)
  if (name === undefined) return undefined
  return async ({ call, warnIfFailed }) => {
    await warnIfFailed(call.joinRoom({ name }))
    return {}
  }
}

const toAgent = (reader: ElementReader): Join | undefined => {
  const document = readAi(reader)
  if (!document) return undefined
  return async (context) => {
    await context.answer()
    const { kind } = await context.runAgent(document, reader.element.path)
    return kind === 'left' ? 'ended' : {}
  }
}

const toRelay = (reader: ElementReader): Join | undefined => {
  const options = readConversationRelay(reader)
  if (!options) return undefined
  return async (context) => {
    await context.answer()
    return runConversationRelay(context, options)
  }
}

const readers: ReadonlyMap<ElementKind, (reader: ElementReader) => Join | undefined> = new Map([
  [stream, toStream],
  [room, toRoom],
  [ai, toAgent],
  [conversationRelay, toRelay],
])
