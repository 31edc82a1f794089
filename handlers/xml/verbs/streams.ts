import { codes } from '../faults.ts'
import { readStream, startStream, stream } from '../nouns/stream.ts'
import type { ElementKind, VerbKind } from '../verb.ts'

/** Verb `Start`: starts its `Stream` elements and continues with the next verb. */
export const start: VerbKind = {
  name: 'Start',
  attributes: [],
  children: [stream],
  read: (reader) => {
    const streams = reader.nestedOf([stream]).flatMap(({ reader: child }) => readStream(child) ?? [])
    return async (context) => {
      for (const noun of streams) await context.warnIfFailed(startStream(context, noun, noun.options))
      return 'next'
    }
  },
}

/** Element `Stream` in `Stop`. */
const stopped: ElementKind = { name: 'Stream', attributes: ['name'] }

/** Verb `Stop`: stops the streams that its `Stream` elements name. */
export const stop: VerbKind = {
  name: 'Stop',
  attributes: [],
  children: [stopped],
  read: (reader) => {
    const names = reader.nestedOf([stopped]).flatMap(({ reader: child }) => {
      const name = child.text('name')
      if (!name) child.warning(codes.schema, 'Stream needs a name in Stop; it has no effect.')
      return name || []
    })
    return async ({ call }) => {
      for (const name of names) call.stopStream(name)
      return 'next'
    }
  },
}
