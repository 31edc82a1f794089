import type { VerbKind } from '../verb.ts'

/** Verb `Echo`: plays the caller's own audio back to the caller. */
export const echo: VerbKind = {
  name: 'Echo',
  attributes: ['timeout'],
  read: (reader) => {
    const timeoutMs = reader.integer('timeout', 5, 120, 60) * 1000
    return async ({ call }) => {
      await call.echo({ timeoutMs })
      return 'next'
    }
  },
}
