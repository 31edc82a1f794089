import type { CallState, Clock } from '@trunkline/client'
import type { Account } from '../api.ts'
import { element, setText, show } from '../dom.ts'
import type { RecentCalls } from '../memory.ts'
import type { Phone } from '../phone.ts'
import type { Ringer } from '../ringer.ts'
import { activeView } from './active.ts'
import { dialView, recentsView } from './dial.ts'
import { headerView } from './header.ts'
import { incomingView } from './incoming.ts'

const words: Readonly<Record<CallState, string>> = {
  new: 'Preparing the call…',
  setup: 'Preparing the call…',
  trying: 'Calling…',
  ringing: 'Ringing…',
  early: 'Ringing…',
  active: 'In call',
  held: 'On hold',
  ended: '',
}

/** What the phone's screen is made of. */
export interface ScreenParts {
  readonly account: Account
  readonly phone: Phone
  readonly recents: RecentCalls
  readonly ringer: Ringer
  readonly clock: Clock
  readonly audio: () => AudioContext
  readonly setOnline: (online: boolean) => void
  readonly signOut: () => void
}

/** The screen after sign-in. */
export const phoneView = (parts: ScreenParts): { readonly element: HTMLElement; update(): void } => {
  const { account, phone, recents, ringer } = parts
  const state = element('p', {
    class: 'call-state',
    role: 'status',
    'aria-live': 'polite',
    'data-testid': 'call-state',
  })
  const notice = element('p', { class: 'notice', role: 'status', 'data-testid': 'notice' })
  const header = headerView(account, phone, parts)
  const dial = dialView(phone)
  const past = recentsView(recents, (to) => dial.fill(to))
  const views = [header, incomingView(phone), activeView(parts), dial, past]
  const [, incoming, active] = views
  const card = element(
    'section',
    { class: 'card phone', 'aria-label': 'Phone' },
    state,
    notice,
    incoming?.element,
    active?.element,
    dial.element,
  )
  return {
    element: element(
      'div',
      { class: 'frame' },
      header.element,
      element('main', { class: 'board' }, card, past.element),
    ),
    update() {
      const waiting = phone.incoming[0]
      const current = phone.current?.call.state
      state.dataset.state = current ?? (waiting ? 'incoming' : 'idle')
      setText(state, current ? words[current] : waiting ? `Incoming call from ${waiting.name}` : 'Ready')
      notice.className = `notice ${phone.notice?.tone ?? 'plain'}`
      setText(notice, phone.notice?.text ?? '')
      show(notice, phone.notice !== undefined)
      for (const view of views) view.update()
      ringer.set(!waiting || waiting.answering ? undefined : phone.isBusy ? 'knock' : 'ring')
      document.title = waiting
        ? `☎ ${waiting.name} - Trunkline`
        : phone.current
          ? `${phone.current.name} - Trunkline`
          : 'Trunkline'
    },
  }
}
