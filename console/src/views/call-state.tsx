import type { CallState as State } from '@trunkline/client'
import { type Line, namesOf } from '../lines.ts'
import { isTyping } from '../shortcuts.ts'
import { texts } from '../texts/language.ts'
import { usePage } from './page.ts'

/** Returns the words for the state of a call; undefined while the parties talk. */
export const lineText = ({ call, broken }: Line): string | undefined => {
  const t = texts.value
  if (call.active && !call.hasMedia) return t.connecting
  if (call.active && broken) return t.reconnectingCall
  const words: Readonly<Record<State, string | undefined>> = {
    new: t.preparing,
    setup: t.preparing,
    trying: t.calling,
    ringing: t.ringing,
    early: t.ringing,
    active: call.isHeldByOthers ? t.heldByOthers : undefined,
    held: t.onHold,
    ended: '',
  }
  return words[call.state]
}

/** Announces the state of the call to assistive technology. */
export const CallState = () => {
  const { phone } = usePage()
  const t = texts.value
  const [waiting] = phone.incoming
  const { current } = phone
  const state = current?.call.state
  // The panel of the call announces itself when it has the focus.
  const incoming = waiting && isTyping(document.activeElement) && t.incomingTyping(waiting.name)
  const own = current && (lineText(current) ?? t.inCallWith(namesOf(current)))
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
