import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import { readRoom, room } from '../nouns/room.ts'
import { readStream, startStream, stream } from '../nouns/stream.ts'
import type { VerbContext, VerbKind } from '../verb.ts'
import { continueWith } from '../verb.ts'

/** Connects the caller and resolves at the end of the connection. */
type Join = (context: VerbContext) => Promise<void>

/**
 * Verb `Connect`: connects the caller to its `Stream` or `Room` in both directions, until that connection
 * ends.
 */
export const connect: VerbKind = {
  name: 'Connect',
  attributes: ['action', 'method'],
  children: [stream, room],
  read: (reader) => {
    const action = reader.action()
    const [first, ...more] = reader.nestedOf([stream, room])
    for (const { reader: child } of more)
      child.warning(codes.schema, 'Connect supports one Stream or Room; this one has no effect.')
    const join = first && (first.kind === room ? toRoom : toStream)(first.reader)
    if (!join) return undefined
    return async (context) => {
      await join(context)
      return continueWith(action, {})
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
  }
}

const toRoom = (reader: ElementReader): Join | undefined => {
  const name = readRoom(reader)
  if (name === undefined) return undefined
  return async ({ call, warnIfFailed }) => {
    await warnIfFailed(call.joinRoom({ name }))
  }
}
