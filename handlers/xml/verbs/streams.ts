import { codes } from '../faults.ts'
import { beginStream, readStream, stream } from '../nouns/stream.ts'
import type { ElementKind, VerbKind } from '../verb.ts'

/** `Start` begins each `Stream` in it, and the next verb has its turn at once. */
export const start: VerbKind = {
  name: 'Start',
  attributes: [],
  inside: [stream],
  read: (reader) => {
    const streams = reader.nestedOf([stream]).flatMap(({ reader: child }) => readStream(child) ?? [])
    return async (stage) => {
      for (const noun of streams) await stage.attempt(beginStream(stage, noun, noun.options))
      return 'on'
    }
  },
}

/** `Stream` in `Stop`. */
const stopped: ElementKind = { name: 'Stream', attributes: ['name'] }

/** `Stop` ends each `Stream` in it by its name. */
export const stop: VerbKind = {
  name: 'Stop',
  attributes: [],
  inside: [stopped],
  read: (reader) => {
    const names = reader.nestedOf([stopped]).flatMap(({ reader: child }) => {
      const name = child.text('name')
      if (!name) child.warning(codes.schema, 'Stream needs a name in Stop; it has no effect.')
      return name || []
    })
    return async ({ call }) => {
      for (const name of names) call.stopStream(name)
      return 'on'
    }
  },
}
