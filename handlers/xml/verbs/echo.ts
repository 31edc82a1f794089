import type { VerbKind } from '../verb.ts'

/** `Echo`: the caller hears what it says. */
export const echo: VerbKind = {
  name: 'Echo',
  attributes: ['timeout'],
  read: (reader) => {
    const timeoutMs = reader.integer('timeout', 5, 120, 60) * 1000
    return async ({ call }) => {
      await call.echo({ timeoutMs })
      return 'on'
    }
  },
}
