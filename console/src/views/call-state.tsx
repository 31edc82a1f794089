import type { CallState as State } from '@trunkline/client'
import { isTyping } from '../shortcuts.ts'
import { texts } from '../texts/language.ts'
import { usePage } from './page.ts'

/** Returns the words for the state of a call. */
export const stateText = (state: State): string => {
  const t = texts.value
  const words: Readonly<Record<State, string>> = {
    new: t.preparing,
    setup: t.preparing,
    trying: t.calling,
    ringing: t.ringing,
    early: t.ringing,
    active: t.inCall,
    held: t.onHold,
    ended: '',
  }
  return words[state]
}

/** Announces the state of the call to assistive technology. */
export const CallState = () => {
  const { phone } = usePage()
  const t = texts.value
  const [waiting] = phone.incoming
  const { current } = phone
  const state = current?.call.state
  const broken = current?.broken && current.call.active
  // The panel of the call announces itself when it has the focus.
  const incoming = waiting && isTyping(document.activeElement) && t.incomingTyping(waiting.name)
  const own =
    current &&
    (broken
      ? t.reconnectingCall
      : state === 'active'
        ? t.inCallWith(current.name)
        : stateText(current.call.state))
  return (
    <p
      class="aside"
      role="status"
      data-testid="call-state"
      data-state={state ?? (waiting ? 'incoming' : 'idle')}
    >
      {incoming || own || (waiting ? '' : t.ready)}
    </p>
  )
}
