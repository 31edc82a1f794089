import { scriptOf } from './read-script.ts'
import type { StandInScript } from './script-types.ts'

/** Script of `trunkline engines` without a file, in the form of such a file. */
const assistant = {
  rules: [
    {
      when: 'begin',
      do: [
        {
          say:
            'Hello. I am the test assistant of Trunkline, and there is no model behind me. ' +
            'I notice that you speak, but I do not understand words. Please say something.',
        },
      ],
    },
    // Instructions of the gateway, which are no turns of the caller.
    { when: { contains: ['still there'] }, do: [{ say: 'Are you still there?' }] },
    { when: { contains: ['summarize'] }, do: [{ say: 'A caller talked to the test assistant.' }] },
    { when: { on: 'result' }, do: [{ say: 'The function {{function}} answered: {{result}}' }] },
    {
      when: { contains: ['goodbye', 'good bye', 'bye', 'hang up'], offers: ['hangup', 'endcall'] },
      do: [{ say: 'Goodbye.' }, { call: true }],
    },
    { when: { contains: ['goodbye', 'good bye', 'bye', 'hang up'] }, do: [{ say: 'Goodbye.' }] },
    {
      when: {
        contains: ['transfer', 'human', 'operator', 'another person'],
        offers: ['transfer', 'connect'],
      },
      do: [{ say: 'One moment, please. I connect you.' }, { call: true }],
    },
    {
      when: {
        contains: ['book*', 'appointment*', 'reserv*'],
        offers: ['book', 'appointment', 'reserv', 'schedul'],
      },
      do: [{ call: true }],
    },
    { when: { contains: ['time', 'clock'], offers: ['time', 'clock'] }, do: [{ call: true }] },
    { when: { contains: ['time', 'clock'] }, do: [{ say: 'It is {{time}}.' }] },
    { when: { contains: ['name'] }, do: [{ say: 'I am the test assistant of Trunkline.' }] },
    { when: { contains: ['hello', 'hi', 'hey'] }, do: [{ say: 'Hello. How can I help you?' }] },
    { when: { pattern: '^[0-9*# ]+$' }, do: [{ say: 'You entered {{text}}.' }] },
    {
      when: { interrupted: true },
      do: [{ say: 'You interrupted me, so I stopped. You said something for {{seconds}} seconds.' }],
    },
    {
      when: { turn: 1 },
      do: [
        {
          say:
            'You said something for {{seconds}} seconds. ' +
            'Say something more, and I call a function, if you gave me one.',
        },
      ],
    },
    { when: { turn: 2, offers: ['time', 'clock'] }, do: [{ call: true }] },
    { when: { turn: 2, offers: ['*'] }, do: [{ call: true }] },
    {
      when: { turn: 3 },
      do: [
        {
          say:
            'Now I speak for a while, so that you can interrupt me. ' +
            'Just begin to speak, and I stop at once. ' +
            'One. Two. Three. Four. Five. Six. Seven. Eight. Nine. Ten. You did not interrupt me.',
        },
      ],
    },
    {
      when: { turn: 5, offers: ['hangup', 'endcall'] },
      do: [{ say: 'Thank you for the call. Goodbye.' }, { call: true }],
    },
    { when: { turn: 5 }, do: [{ say: 'Thank you for the call. Goodbye.' }] },
    { when: 'any', do: [{ say: 'You said something for {{seconds}} seconds. Please go on.' }] },
  ],
}

/**
 * Friendly assistant for a first call. It greets, counts the seconds that the caller spoke, calls a function,
 * can be interrupted, and says goodbye. A text from a real recogniser is answered by simple rules.
 */
export const defaultScript = (): StandInScript => scriptOf(assistant)
