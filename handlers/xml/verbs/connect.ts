import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import { readRoom, room } from '../nouns/room.ts'
import { beginStream, readStream, stream } from '../nouns/stream.ts'
import type { Stage, VerbKind } from '../verb.ts'
import { asked } from '../verb.ts'

/** Joins the caller to it until that is over. */
type Join = (stage: Stage) => Promise<void>

/** `Connect` joins the caller to its `Stream` or its `Room`, both ways; the next verb has its turn when that is over. */
export const connect: VerbKind = {
  name: 'Connect',
  attributes: ['action', 'method'],
  inside: [stream, room],
  read: (reader) => {
    const action = reader.action()
    const [first, ...more] = reader.nestedOf([stream, room])
    for (const { reader: child } of more)
      child.warning(codes.schema, 'Connect takes one Stream or Room; this one has no effect.')
    const join = first && (first.kind === room ? toRoom : toStream)(first.reader)
    if (!join) return undefined
    return async (stage) => {
      await join(stage)
      return asked(action, {})
    }
  },
}

const toStream = (reader: ElementReader): Join | undefined => {
  const noun = readStream(reader)
  if (!noun) return undefined
  return async (stage) => {
    const options = { ...noun.options, bidirectional: true }
    const begun = await stage.attempt(beginStream(stage, noun, options))
    await begun?.ended
  }
}

const toRoom = (reader: ElementReader): Join | undefined => {
  const name = readRoom(reader)
  if (name === undefined) return undefined
  return async ({ call, context, attempt }) => {
    await attempt(call.joinConference(context.room(name)))
  }
}
