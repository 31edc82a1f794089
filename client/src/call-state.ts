/**
 * The states of a call.
 *
 * - `new`: not started. `setup`: the microphone is being opened and the description made. `trying`: the server has it.
 * - `ringing`: the far side rings. `early`: its early media (a ring-back tone, an announcement) can be heard.
 * - `active`: answered. `held`: answered, and nothing is sent or heard. `ended`: over; the last state.
 */
export type CallState = 'new' | 'setup' | 'trying' | 'ringing' | 'early' | 'active' | 'held' | 'ended'

/** What moves a call from one state to another. */
export type CallStep = 'start' | 'sent' | 'ring' | 'media' | 'answer' | 'hold' | 'unhold' | 'end'

const steps: Readonly<Record<CallStep, Partial<Record<CallState, CallState>>>> = {
  start: { new: 'setup' },
  sent: { setup: 'trying' },
  ring: { setup: 'ringing', trying: 'ringing' },
  media: { setup: 'early', trying: 'early', ringing: 'early' },
  // The answer may overtake the reply to our own request.
  answer: { setup: 'active', trying: 'active', ringing: 'active', early: 'active' },
  hold: { active: 'held' },
  unhold: { held: 'active' },
  end: {
    new: 'ended',
    setup: 'ended',
    trying: 'ended',
    ringing: 'ended',
    early: 'ended',
    active: 'ended',
    held: 'ended',
  },
}

/** The state after a step; undefined when the step means nothing in this state, and is to be ignored. */
export const nextState = (state: CallState, step: CallStep): CallState | undefined => steps[step][state]

/** True once the far side has answered and until the call ends. */
export const isAnswered = (state: CallState): boolean => state === 'active' || state === 'held'
