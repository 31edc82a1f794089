import type { TestedCall } from '../calls/tested-call.ts'
import { scoreCall } from '../scores/call-scores.ts'
import { recordingOf, sound } from './synthetic-call.ts'

/** Result of a synthetic call: an answered turn, a cough that did not stop the agent, and an interruption. */
export const answeredCall = (
  changes: Partial<NonNullable<TestedCall['answered']>> = {},
  number = 1,
): TestedCall => ({
  number,
  problems: [],
  answered: {
    endedBy: 'agent',
    scores: scoreCall(syntheticRecording(), -55),
    transcript: [
      { who: 'caller', kind: 'turn', text: 'A table <for> two.', fromMs: 1000, toMs: 2000 },
      { who: 'agent', kind: 'speech', text: "It's booked, for 8.", fromMs: 2400, toMs: 5150 },
      { who: 'caller', kind: 'cough', text: 'cough', fromMs: 3000, toMs: 3250 },
      { who: 'caller', kind: 'interruption', text: 'Stop', fromMs: 5000, toMs: 5600 },
      { who: 'agent', kind: 'speech', fromMs: 6500, toMs: 7000 },
    ],
    functions: [
      { name: 'book', args: { people: 2, day: 'Friday' }, result: 'Done.', atMs: 2200, durationMs: 40 },
    ],
    hasReport: true,
    packets: { received: 400, lost: 0 },
    lateMs: 3,
    ...changes,
  },
})

/** Recording of {@link answeredCall}. */
export const syntheticRecording = () =>
  recordingOf(
    8000,
    [
      { fromMs: 2400, toMs: 5150 },
      { fromMs: 6500, toMs: 7000 },
    ],
    [sound(1000, 2000), sound(3000, 3250, 'cough'), sound(5000, 5600, 'interruption')],
  )
