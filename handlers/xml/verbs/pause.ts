import type { ElementReader } from '../element-reader.ts'
import type { VerbKind } from '../verb.ts'

/** Verb `Pause`: waits. It does not answer the caller. */
export const pause: VerbKind = {
  name: 'Pause',
  attributes: ['length'],
  canRunInSideDocument: true,
  read: (reader) => {
    const ms = readPause(reader)
    return async ({ call }) => {
      await call.sleep(ms)
      return 'next'
    }
  },
}

/** Reads the duration of a `Pause`, in milliseconds. */
export const readPause = (reader: ElementReader): number => {
  return reader.integer('length', 0, 86_400, 1) * 1000
}
