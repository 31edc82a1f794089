/**
 * States of a call.
 *
 * - `new`: not started. `setup`: opening the microphone and creating the offer or answer. `trying`: sent to
 *   the server.
 * - `ringing`: the far side rings. `early`: early media (a ring-back tone, an announcement) can be heard.
 * - `active`: answered. `held`: answered, on hold in both directions. `ended`: final state.
 */
export type CallState = 'new' | 'setup' | 'trying' | 'ringing' | 'early' | 'active' | 'held' | 'ended'

/** Step that moves a call from one state to another. */
export type CallStep = 'start' | 'sent' | 'ring' | 'media' | 'answer' | 'hold' | 'unhold' | 'end'

const steps: Readonly<Record<CallStep, Partial<Record<CallState, CallState>>>> = {
  start: { new: 'setup' },
  sent: { setup: 'trying' },
  ring: { setup: 'ringing', trying: 'ringing' },
  media: { setup: 'early', trying: 'early', ringing: 'early' },
  // The answer may arrive before the reply to the client's request.
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

/** Returns the state after a step; undefined if the step is not valid in this state. */
export const nextState = (state: CallState, step: CallStep): CallState | undefined => steps[step][state]

/** Whether the far side has answered and the call has not ended. */
export const isAnswered = (state: CallState): boolean => state === 'active' || state === 'held'
