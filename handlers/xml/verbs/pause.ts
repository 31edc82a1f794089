import type { ElementReader } from '../element-reader.ts'
import type { VerbKind } from '../verb.ts'

/** `Pause` waits; as the first verb it leaves the caller unanswered meanwhile. */
export const pause: VerbKind = {
  name: 'Pause',
  attributes: ['length'],
  aside: true,
  read: (reader) => {
    const ms = readPause(reader)
    return async ({ call }) => {
      await call.sleep(ms)
      return 'on'
    }
  },
}

/** Reads `Pause`: milliseconds. */
export const readPause = (reader: ElementReader): number => {
  return reader.integer('length', 0, 86_400, 1) * 1000
}
