import { CallEnded } from '../../verbs.ts'
import type { Method } from '../method.ts'
import { choice, number } from '../schema-parts.ts'

/** Beginning and end of the call. */
export const answering: Readonly<Record<string, Method>> = {
  answer: {
    description: 'Answers the call; nothing when it is answered already.',
    properties: { max_duration: number('Longest call in seconds; default 14400.', [1, 86_400]) },
    withoutEffect: ['codecs', 'username', 'password'],
    run: async (values, { call }) => {
      const maxDurationMs = values.seconds('max_duration')
      if (!call.answered) await call.answer(maxDurationMs === undefined ? {} : { maxDurationMs })
      return undefined
    },
  },
  hangup: {
    description: 'Ends the call. Before an answer, busy and decline refuse it.',
    properties: { reason: choice('hangup, busy or decline; default hangup.', ['hangup', 'busy', 'decline']) },
    run: async (values, { call }) => {
      await call.hangup(values.choice<'hangup' | 'busy' | 'decline'>('reason') ?? 'hangup')
      throw new CallEnded()
    },
  },
}
